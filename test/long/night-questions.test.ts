// What is asked at night, one command each, and every answer checked against what is so: the gateway's own counts, Redis,
// the log, what was typed before.
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { AuditBody } from '../../src/resources/audit.ts';
import type { CardBody } from '../../src/resources/cards.ts';
import type { ExplanationBody } from '../../src/resources/explanation.ts';
import type { ConcurrencyBody } from '../../src/resources/limits.ts';
import type { OverviewBody } from '../../src/resources/stats.ts';
import { Fleet } from '../support/fleet.ts';
import { type RunningCli, runCli, spawnCli, waitFor } from '../support/processes.ts';

const CARDS = 1_000;
/** The gateway's answers take this long, so that a limit of one means twenty polls a second. */
const LATENCY_MS = 50;
const CARD = 42;
/** Of realname: asks for fifty polls a second. */
const INTERVAL_SECONDS = 20;

let fleet: Fleet;
let gateway: RunningCli | null = null;

beforeAll(async () => {
  fleet = await Fleet.start({
    simulator: ['--latency-ms', String(LATENCY_MS)],
    env: { CARDPOLL_ADAPTIVE_CONCURRENCY: 'false' },
  });
  await fleet.startDaemon();
  await fleet.importCards(CARDS);
});
afterAll(() => {
  gateway?.signal('SIGKILL');
  fleet.close();
});

async function ask<Body>(...args: string[]): Promise<Body> {
  const { stdout } = await runCli([...args, '-o', 'json'], { env: { CARDPOLL_URL: url() } });
  return JSON.parse(stdout) as Body;
}
const url = () => fleet.daemons[0]?.url ?? '';
const type = (command: string | null | undefined) => {
  if (!command?.startsWith('cardpoll ')) throw new Error(`nothing to type: ${command}`);
  return fleet.cli(...command.split(' ').slice(1));
};
async function explained(taskType: string) {
  const { tasks } = await ask<ExplanationBody>('explain', String(CARD));
  const task = tasks.find(({ task_type }) => task_type === taskType);
  if (task === undefined) throw new Error(`${taskType} is not explained`);
  return task;
}
async function realnameConfig(): Promise<number> {
  const { config } = await explained('realname');
  if (config === null) throw new Error('no config takes the card');
  return config.id;
}

it('why is this card not polled: it waits behind others, as many as are polled before it', async () => {
  await waitFor(async () => (await explained('realname')).ring?.member, { what: 'the card to be loaded' });
  await fleet.cli('concurrency', 'set', 'realname', '1', '--yes');
  const { items } = await ask<{ items: { id: number; task_type: string }[] }>('configs');
  for (const { id } of items.filter(({ task_type }) => task_type === 'realname')) {
    await fleet.cli('configs', 'set', String(id), '--interval-seconds', String(INTERVAL_SECONDS), '--yes');
  }
  const waiting = await waitFor(
    async () => {
      const task = await explained('realname');
      return task.state === 'due' && (task.cards_before ?? 0) > 50 ? task : null;
    },
    { what: 'the card to wait behind others' },
  );
  const askedAt = Date.now();
  const { next_due_at: due } = await ask<CardBody>('cards', 'show', String(CARD));
  expect(Date.parse(due.realname ?? ''), 'not the time after this one').toBeLessThanOrEqual(Date.now());
  expect(waiting.text).toMatch(/^is (due now|overdue \d+ \w+): \d+ cards are before it, about \d+ (s|min)$/);
  const callsBefore = async () => {
    let calls = 0;
    for await (const line of fleet.logLines()) {
      if (line.interface !== 'realname' || Date.parse(String(line.time)) < askedAt) continue;
      if (line.card_id === CARD) return { calls };
      calls += 1;
    }
    return null;
  };
  const { calls } = await waitFor(callsBefore, { what: 'the card to be polled' });
  const expected = waiting.cards_before ?? 0;
  expect(Math.abs(calls - expected), `${calls} calls, ${expected} expected`).toBeLessThan(10 + expected / 4);
});

it('what is overloaded, and what do I type', async () => {
  const overload = async () => {
    const { items } = await ask<{ items: { check: string; detail: string; command: string }[] }>('doctor');
    return items.find(({ check, detail }) => check === 'overloaded' && detail.startsWith('realname'));
  };
  const overloaded = await waitFor(overload, { what: 'the overload to be measured' });
  expect(overloaded.detail).toMatch(/^realname: demand exceeds the limit/);
  expect(overloaded.command).toMatch(/^cardpoll concurrency set realname \d+$/);
  // Typed as often as it is said: the machine may have become slower since. What is so is what was called: every card
  // within little more than an interval, which one call at a time could not do.
  await waitFor(
    async () => {
      const again = await overload();
      if (again !== undefined) await type(again.command);
      const since = Date.now() - 1_500 * INTERVAL_SECONDS;
      const polled = new Set<unknown>();
      for await (const line of fleet.logLines()) {
        if (line.interface === 'realname' && Date.parse(String(line.time)) > since) polled.add(line.card_id);
      }
      return polled.size === CARDS;
    },
    { everyMs: 500, what: 'every card to be polled within an interval' },
  );
});

it('who changed the limit, and from what', async () => {
  const changes = (body: { items: AuditBody[] }) =>
    body.items.filter(({ object }) => object === 'task_type realname').reverse();
  const { items } = await ask<{ items: ConcurrencyBody[] }>('concurrency');
  const limit = items.find(({ task_type }) => task_type === 'realname')?.max_concurrency;
  const told = changes(await ask('audit', '--action', 'concurrency', '--since', '1h', '--page-size', '100'));
  expect(told[0]).toMatchObject({ actor: 'local', before: { max_concurrency: 100 } });
  expect(told[0]?.after).toEqual({ max_concurrency: 1 });
  expect(told.slice(1).map(({ before }) => before)).toEqual(told.slice(0, -1).map(({ after }) => after));
  expect(told.at(-1)?.after).toEqual({ max_concurrency: limit });
  expect(changes(await ask('audit', '--actor', 'nobody'))).toEqual([]);
});

it('when does the backlog drain: as fast as the gateway answers', async () => {
  await fleet.cli('concurrency', 'set', 'package', '2', '--yes');
  await fleet.cli('trigger', 'by-condition', '--task', 'package', '--carrier-id', '1', '--yes');
  const state = async () => {
    const [{ tasks }, truth] = await Promise.all([ask<OverviewBody>('stats'), fleet.truth()]);
    const task = tasks.find(({ task_type }) => task_type === 'package');
    if (task === undefined) throw new Error('no package');
    const calls = truth.by_interface.card_status ?? 0;
    return { task, calls, owed: task.manual_length + task.due, drain: task.capacity.drain_seconds };
  };
  const first = await waitFor(
    async () => {
      const now = await state();
      return now.owed > CARDS / 2 && now.drain !== null ? now : null;
    },
    { what: 'a backlog' },
  );
  const from = performance.now();
  const second = await waitFor(
    async () => {
      const now = await state();
      return now.calls > first.calls + 200 ? now : null;
    },
    { what: 'the gateway to be called' },
  );
  const perSecond = (1_000 * (second.calls - first.calls)) / (performance.now() - from);
  const drain = first.drain ?? Number.NaN;
  expect(drain / (first.owed / perSecond), `${drain} s told`).toBeGreaterThan(0.25);
  expect(drain / (first.owed / perSecond), `${drain} s told`).toBeLessThan(4);
});

it('is the gateway down, and since when', async () => {
  const killedAt = Date.now();
  fleet.simulator?.signal('SIGKILL');
  const down = await waitFor(
    async () => {
      const { gateway: told } = await ask<OverviewBody>('stats');
      return told.interfaces.find(({ breaker }) => breaker === 'open');
    },
    { what: 'the gateway to be found down' },
  );
  expect(Date.parse(down.since ?? '')).toBeGreaterThan(killedAt - 1_000);
  expect(Date.parse(down.since ?? '')).toBeLessThanOrEqual(Date.now());
  expect(down.reason).toMatch(/ECONNREFUSED|other side closed|ECONNRESET/);
  const held = await waitFor(
    async () => {
      const task = await explained('realname');
      return task.state === 'held' ? task : null;
    },
    { what: 'the card to be held back with its interface' },
  );
  expect(held.text).toMatch(/^(the gateway|interface realname) is held back for \d+ (s|min): /);
  const settings = ['--gateway-url', fleet.gatewayUrl];
  const { stdout, code } = await runCli(['doctor', ...settings], { env: { CARDPOLL_URL: url() } });
  expect(code).toBe(1);
  expect(stdout).toMatch(/^✖ failed +gateway flow: [\s\S]*ECONNREFUSED/m);
  expect(stdout).toMatch(/^✖ failed +breaker_open: /m);

  const { host } = new URL(fleet.gatewayUrl);
  gateway = spawnCli(['gateway', 'simulate', '--listen', host]);
  await waitFor(
    async () => {
      const { gateway: told } = await ask<OverviewBody>('stats');
      return told.interfaces.every(({ breaker }) => breaker === 'closed');
    },
    { what: 'the gateway to be found back' },
  );
  expect((await explained('realname')).state).not.toBe('held');
});

it('why is this card not polled: its config is disabled, and what is to be typed has it polled', async () => {
  const config = await realnameConfig();
  await fleet.cli('configs', 'disable', String(config), '--yes');
  const told = await waitFor(
    async () => {
      const task = await explained('realname');
      return task.state === 'disabled' ? task : null;
    },
    { what: 'what was queued to be polled' },
  );
  expect(told.command).toBe(`cardpoll configs enable ${config}`);
  const silent = (await fleet.truth()).by_interface.realname ?? 0;
  await type(told.command);
  await waitFor(async () => ((await fleet.truth()).by_interface.realname ?? 0) > silent, {
    what: 'cards to be polled again',
  });
  await waitFor(
    async () => {
      const { state, last_succeeded_at: at } = await explained('realname');
      return state !== 'disabled' && Date.parse(at ?? '') > Date.parse(told.last_succeeded_at ?? '');
    },
    { what: 'the card to be polled again' },
  );
});
