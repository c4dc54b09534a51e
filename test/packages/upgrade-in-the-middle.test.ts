// An upgrade of the daemon in the middle of its work, as the gateway counts: rings, calls to stop and to resume cards that have no
// answer yet, stops that wait for an operator. From release 0.2.0, and from 0.3.0 with more to carry over. `npm run test:upgrade`; it builds
// both from the history of this repository. And 0.3.0 next to this version, as while instances are replaced one after the other.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { demoIccid } from '../../src/gateway/simulate/simulated-fleet.ts';
import { buildOfCommit } from '../support/build-of-commit.ts';
import { Fleet, type Program } from '../support/fleet.ts';
import { HEALTHY } from '../support/healthy-answers.ts';
import { type PostgresServer, startPostgres } from '../support/postgres-server.ts';
import { BINARY, waitFor } from '../support/processes.ts';
import {
  type ScriptedCall,
  type ScriptedGateway,
  startScriptedGateway,
} from '../support/scripted-gateway.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const CARDS = 400;
const INTERVAL_MS = 60_000;
/** So long that the daemon is killed before it gives a call up, also on a busy machine. */
const CALL_MS = 60_000;
const LEASE_MS = 2 * CALL_MS + 1_000;
const NEVER_MS = 10 * CALL_MS;
/** What a dead daemon held is taken over when its lease has ended. */
const TAKEN_OVER = { timeoutMs: 2 * LEASE_MS };

const range = (first: number, last: number) =>
  Array.from({ length: last - first + 1 }, (_, i) => demoIccid(first + i));
/** Cards by what happens to them before the upgrade. Few calls have no answer, or flow control slows the others down. */
const STOPPED = range(1, 20);
const STOP_IN_FLIGHT = range(21, 25);
const STOP_LOST = range(41, 45);
const HELD = range(61, 100);
const RESUMED = range(101, 120);
const RESUME_IN_FLIGHT = range(121, 125);
const RESUME_LOST = range(141, 145);
const TO_RESUME = [...RESUMED, ...RESUME_IN_FLIGHT, ...RESUME_LOST];
const CARD_IDS = new Map(range(1, CARDS).map((iccid, i) => [iccid, i + 1]));
/** Cards that are polled by the schedule alone. */
const OTHERS = range(161, CARDS);

/** A gateway whose calls to stop and resume get no answer before `upgraded`, for the cards that are in flight or lost. */
class World {
  readonly over = new Set<string>();
  readonly stopped = new Set<string>();
  readonly polledAt = new Map<string, number[]>();
  upgraded = false;

  answer({ interfaceName, iccid }: ScriptedCall) {
    if (interfaceName === 'flow') this.#note(iccid);
    if (interfaceName === 'flow') return { body: { used: this.over.has(iccid) ? 100 : 10 } };
    if (interfaceName === 'card_status')
      return { body: { cardStatus: this.stopped.has(iccid) ? 'stopped' : 'active' } };
    if (interfaceName !== 'stop' && interfaceName !== 'start') return { body: HEALTHY[interfaceName] };
    const [inFlight, lost] =
      interfaceName === 'stop' ? [STOP_IN_FLIGHT, STOP_LOST] : [RESUME_IN_FLIGHT, RESUME_LOST];
    if (this.upgraded || !lost.includes(iccid)) {
      if (interfaceName === 'stop') this.stopped.add(iccid);
      else this.stopped.delete(iccid);
    }
    const answered = this.upgraded || !(inFlight.includes(iccid) || lost.includes(iccid));
    return { body: HEALTHY[interfaceName], delayMs: answered ? 0 : NEVER_MS };
  }

  #note(iccid: string): void {
    const times = this.polledAt.get(iccid) ?? [];
    times.push(performance.now());
    this.polledAt.set(iccid, times);
  }
}

let world: World;
let gateway: ScriptedGateway;
let fleet: Fleet;
/** Its databases are empty: each release makes its own tables. */
let postgres: PostgresServer;
beforeAll(async () => {
  postgres = await startPostgres();
});
afterAll(async () => {
  await postgres?.stop();
});

async function startFleet(program: Program, env: Readonly<Record<string, string>> = {}): Promise<void> {
  world = new World();
  gateway = await startScriptedGateway((call) => world.answer(call));
  fleet = await Fleet.start({
    gatewayUrl: gateway.url,
    postgres,
    env: {
      CARDPOLL_GATEWAY_TIMEOUT_MS: String(CALL_MS),
      CARDPOLL_LEASE_MS: String(LEASE_MS),
      CARDPOLL_ADAPTIVE_CONCURRENCY: 'off',
    },
  });
  await fleet.startDaemon(env, program);
  await fleet.setLimits(200);
  await fleet.setIntervals(INTERVAL_MS / 1000);
}
afterEach(async () => {
  fleet?.close();
  await gateway?.close();
});

const callsOf = (name: 'stop' | 'start', iccids: readonly string[]) =>
  iccids.map((iccid) => gateway.callsOf.get(`${name} ${iccid}`) ?? 0);
const each = (calls: number, iccids: readonly string[]) => iccids.map(() => calls);
const called = (name: 'stop' | 'start', iccids: readonly string[]) => () =>
  callsOf(name, iccids).every((calls) => calls > 0);

/** Has their usage read now. */
async function read(iccids: readonly string[]): Promise<void> {
  const ids = iccids.map((iccid) => CARD_IDS.get(iccid)).join(',');
  await fleet.cli('trigger', 'batch', '--card-ids', ids, '--task', 'carddata', '--wait');
}

async function goOver(...cards: readonly (readonly string[])[]): Promise<void> {
  const iccids = cards.flat();
  for (const iccid of iccids) world.over.add(iccid);
  await read(iccids);
  await waitFor(called('stop', iccids), { what: 'the calls that stop them' });
}

/** Kills the daemon and starts this version. @returns how many polls of each card came before */
async function upgrade(env: Readonly<Record<string, string>> = {}): Promise<ReadonlyMap<string, number>> {
  await fleet.daemons.at(-1)?.process.stop('SIGKILL');
  world.upgraded = true;
  const before = new Map([...world.polledAt].map(([iccid, times]) => [iccid, times.length]));
  await fleet.startDaemon(env);
  return before;
}

/**
 * The others are polled twice more. A ring comes to its phase at twice its pace at most, so no card is polled again before half an
 * interval is over, less the time in which nothing was polled: what was late then comes late, and the next poll does not.
 */
async function expectPolls(before: ReadonlyMap<string, number>): Promise<void> {
  const polls = OTHERS.map((iccid) => ({
    seen: before.get(iccid) ?? 0,
    times: world.polledAt.get(iccid) ?? [],
  }));
  await waitFor(() => polls.every(({ seen, times }) => times.length >= seen + 2), {
    ...TAKEN_OVER,
    what: 'two polls of each card',
  });
  const last = Math.max(...polls.map(({ seen, times }) => times[seen - 1] ?? 0));
  const first = Math.min(...polls.map(({ seen, times }) => times[seen] ?? 0));
  const gaps = polls.flatMap(({ seen, times }) =>
    [seen, seen + 1].map((i) => (times[i] ?? 0) - (times[i - 1] ?? 0)),
  );
  expect(Math.min(...gaps)).toBeGreaterThan(INTERVAL_MS / 2 - (first - last));
  expect(Math.max(...gaps)).toBeLessThan(1.5 * INTERVAL_MS + (first - last));
}

/** Without an option of later releases. */
async function importCards(): Promise<void> {
  const rows = range(1, CARDS).map((iccid, i) => `${i + 1},${iccid},1,1,${i < 160 ? 50 : ''}`);
  const file = join(fleet.dir, 'fleet.csv');
  writeFileSync(file, ['card_id,iccid,carrier_id,status,allowance_mb', ...rows, ''].join('\n'));
  await fleet.cli('cards', 'import', file);
  await read(range(1, 160));
  await waitFor(() => world.polledAt.size === CARDS, { what: 'a poll of each card' });
}

async function usage(): Promise<unknown[]> {
  const cards = [1, 25, 45, 65, 200];
  return Promise.all(
    cards.map(async (id) => {
      const card = await fleet.get<Record<string, unknown>>(`/api/admin/cards/${id}`);
      return [card.usage_month, card.used_mb_month];
    }),
  );
}

describe('release 0.2.0', () => {
  let program: Program;
  beforeAll(async () => {
    program = await buildOfCommit('2a245d31', temporaryDirectory('release'));
  });

  it('keeps rings and stops in flight', async () => {
    await startFleet(program);
    await importCards();
    await goOver(STOPPED);
    await goOver(STOP_IN_FLIGHT, STOP_LOST);
    const used = await usage();
    const before = await upgrade();

    await waitFor(() => callsOf('stop', STOP_LOST).every((calls) => calls === 2), {
      ...TAKEN_OVER,
      what: 'the lost stops to be made',
    });
    await expectPolls(before);
    expect(await usage()).toEqual(used);
    expect(callsOf('stop', [...STOPPED, ...STOP_IN_FLIGHT])).toEqual(
      each(1, [...STOPPED, ...STOP_IN_FLIGHT]),
    );
    expect(callsOf('stop', STOP_LOST)).toEqual(each(2, STOP_LOST));
    expect([...world.stopped].sort()).toEqual([...STOPPED, ...STOP_IN_FLIGHT, ...STOP_LOST].sort());
    expect(gateway.calls.stop).toBe(STOPPED.length + STOP_IN_FLIGHT.length + 2 * STOP_LOST.length);
  });
});

describe('release 0.3.0', () => {
  let program: Program;
  beforeAll(async () => {
    program = await buildOfCommit('459f2c80', temporaryDirectory('release'));
  });

  it('keeps rings, stops and resumes in flight, and held stops', async () => {
    const budget = (max: number) => ({
      CARDPOLL_STOPS_MAX_PER_HOUR: String(max),
      CARDPOLL_STOPS_MAX_PER_DAY: 'none',
    });
    await startFleet(program, budget(STOPPED.length + TO_RESUME.length));
    await importCards();
    await goOver(STOPPED, TO_RESUME);
    for (const iccid of HELD) world.over.add(iccid);
    await read(HELD);
    await waitFor(async () => (await held()) === HELD.length, { timeoutMs: 120_000, what: 'held stops' });
    await fleet.daemons.at(-1)?.process.stop('SIGTERM');
    await fleet.startDaemon(budget(CARDS), program);
    await fleet.cli('stops', 'resume', ...TO_RESUME, '--reason', 'paid', '--yes');
    await goOver(STOP_IN_FLIGHT, STOP_LOST);
    await waitFor(called('start', TO_RESUME), { timeoutMs: 120_000, what: 'the calls that resume them' });
    const used = await usage();
    const before = await upgrade(budget(CARDS));

    await waitFor(
      () =>
        callsOf('stop', STOP_LOST).every((calls) => calls === 2) &&
        callsOf('start', RESUME_LOST).every((calls) => calls === 2),
      { ...TAKEN_OVER, what: 'the lost calls to be made' },
    );
    await expectPolls(before);
    expect(await usage()).toEqual(used);
    expect(await held()).toBe(HELD.length);
    expect(callsOf('stop', HELD), 'held').toEqual(each(0, HELD));

    await fleet.cli('stops', 'release', '--all', '--reason', 'checked', '--yes');
    await waitFor(called('stop', HELD), { timeoutMs: 120_000, what: 'the released stops' });
    const once = [...STOPPED, ...STOP_IN_FLIGHT, ...TO_RESUME, ...HELD];
    expect(callsOf('stop', once)).toEqual(each(1, once));
    expect(callsOf('stop', STOP_LOST)).toEqual(each(2, STOP_LOST));
    expect(callsOf('start', [...RESUMED, ...RESUME_IN_FLIGHT])).toEqual(
      each(1, [...RESUMED, ...RESUME_IN_FLIGHT]),
    );
    expect(callsOf('start', RESUME_LOST)).toEqual(each(2, RESUME_LOST));
    expect([...world.stopped].sort()).toEqual([...STOPPED, ...STOP_IN_FLIGHT, ...STOP_LOST, ...HELD].sort());
    expect(gateway.calls).toMatchObject({
      stop: once.length + 2 * STOP_LOST.length,
      start: TO_RESUME.length + RESUME_LOST.length,
    });
  });
});

describe('release 0.3.0 next to this version', () => {
  let program: Program;
  beforeAll(async () => {
    program = await buildOfCommit('459f2c80', temporaryDirectory('release'));
  });

  it.each([
    ['joins', 0],
    ['is joined by', 1],
  ])('each card is stopped and resumed once where one %s the other', async (_, present) => {
    const env = { CARDPOLL_STOPS_MAX_PER_HOUR: 'none', CARDPOLL_STOPS_MAX_PER_DAY: 'none' };
    const [first, second] = present === 0 ? [undefined, program] : [program, undefined];
    await startFleet(first ?? [process.execPath, BINARY], env);
    world.upgraded = true;
    await importCards();
    await fleet.startDaemon(env, second);
    const since = performance.now();
    for (let from = 1; from <= 140; from += 20) {
      const cards = range(from, from + 19);
      await goOver(cards);
      await waitFor(async () => (await stops('done')) === cards.length, {
        timeoutMs: 120_000,
        what: 'stops to be done',
      });
      await fleet.cli('stops', 'resume', ...cards, '--reason', 'paid', '--yes', '--wait');
      await sleep(Math.max(0, since + (from / 140) * INTERVAL_MS - performance.now()));
    }
    const all = range(1, 140);
    expect(callsOf('stop', all)).toEqual(each(1, all));
    expect(callsOf('start', all)).toEqual(each(1, all));
    expect(gateway.calls).toMatchObject({ stop: all.length, start: all.length });
    expect(world.stopped.size).toBe(0);
  });
});

async function held(): Promise<number> {
  return stops('held');
}

async function stops(state: string): Promise<number> {
  return (await fleet.get<{ total: number }>(`/api/admin/stops?state=${state}&page_size=1`)).total;
}
