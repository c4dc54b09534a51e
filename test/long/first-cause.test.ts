// Nights in which one fault makes others, or follows another one: the first line of `stats` and the messages name the true cause. Real
// daemon, real stores, the recommended rules, and a receiver that counts. Prints when each cause was named, and the messages.
import { unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { OverviewBody } from '../../src/resources/stats.ts';
import { answer, type BadGateway, startBadGateway } from '../support/bad-gateway.ts';
import { Fleet } from '../support/fleet.ts';
import { HEALTHY } from '../support/healthy-answers.ts';
import { waitFor } from '../support/processes.ts';
import { type Script, type ScriptedGateway, startScriptedGateway } from '../support/scripted-gateway.ts';

const CARDS = 1_500;
const INTERVAL_S = 60;
const NAME = 'gw.vendor.test';
const NAMED_WITHIN_S = 15;
/** Fifteen seconds of the rule or of another cause, 15 of the group, and the time until the cause is found. */
const MESSAGE_WITHIN_S = 60;

let gateway: ScriptedGateway;
let receiver: BadGateway;
let fleet: Fleet;
let gone: string;
const lines: string[] = [];

/** More calls at a time make it slow. */
const healthy: Script = ({ interfaceName, inFlight }) => ({
  body: interfaceName === 'flow' ? { used: 100 } : HEALTHY[interfaceName],
  delayMs: inFlight > 60 ? 4 * inFlight : 20,
});

beforeAll(async () => {
  gateway = await startScriptedGateway(healthy);
  receiver = await startBadGateway(answer(204, ''));
  const { port } = new URL(gateway.url);
  fleet = await Fleet.start({ gatewayUrl: `http://${NAME}:${port}` });
  gone = join(fleet.dir, 'name-gone');
  await fleet.startDaemon({
    CARDPOLL_WEBHOOKS_ALLOW_CIDRS: '127.0.0.1/32',
    CARDPOLL_GATEWAY_TIMEOUT_MS: '3000',
    NODE_OPTIONS: `--import=${new URL('../support/movable-name.mjs', import.meta.url)}`,
    MOVABLE_NAME: NAME,
    MOVABLE_NAME_GONE: gone,
  });
  await fleet.setIntervals(INTERVAL_S);
  await fleet.importCards(CARDS);
  await waitFor(async () => (await reasons()).length === 0 && gateway.calls.flow > CARDS, {
    everyMs: 1_000,
    timeoutMs: 240_000,
    what: 'a fleet that is well and knows what is usual',
  });
  await fleet.cli('alerts', 'recommended', '--apply', '--webhook-url', receiver.url);
}, 300_000);
afterAll(async () => {
  process.stdout.write(`${lines.join('\n')}\n`);
  fleet?.close();
  await gateway?.close();
  await receiver?.close();
});

const reasons = async () => (await fleet.get<OverviewBody>('/api/admin/polling-stats')).health_reasons;
const firstLine = async () => (await fleet.cli('stats')).stdout.replace(/\s+/g, ' ');
const messages = () =>
  receiver.requests.map(({ body }) => JSON.parse(body) as { event: string; text: string });

function watch() {
  const since = performance.now();
  return () => Math.round((performance.now() - since) / 1_000);
}

/** @returns seconds until the first reason says it. */
async function named(words: RegExp): Promise<number> {
  const seconds = watch();
  const seen = new Set<string>();
  await waitFor(
    async () => {
      const [first] = await reasons();
      if (first !== undefined) seen.add(first.text);
      return words.test(first?.text ?? '');
    },
    { everyMs: 500, timeoutMs: 1_000 * NAMED_WITHIN_S, what: `${words}, but saw ${[...seen].join(' | ')}` },
  );
  return seconds();
}

/** @param events of the last messages up to this one; absent: any. */
async function message(number: number, events: readonly string[] = []) {
  await waitFor(() => messages().length >= number, {
    everyMs: 500,
    // The end of an alert takes a minute more.
    timeoutMs: 1_000 * (MESSAGE_WITHIN_S + 120),
    what: `message ${number} after ${JSON.stringify(messages())}`,
  });
  const last = messages().slice(number - events.length, number);
  expect(last.map(({ event }) => event)).toEqual(events);
  return messages()[number - 1] as { event: string; text: string };
}

async function calm(): Promise<void> {
  await waitFor(async () => (await reasons()).length === 0, {
    everyMs: 1_000,
    timeoutMs: 180_000,
    what: 'calm',
  });
  await waitFor(
    async () =>
      (await fleet.get<{ total: number }>('/api/admin/polling-alert-history?state=firing')).total === 0,
    { everyMs: 1_000, timeoutMs: 180_000, what: 'no open alert' },
  );
}

it('an interval of 1 s stays first with its undo for two minutes, and the message names it', async () => {
  const before = messages().length;
  await fleet.cli('configs', 'set', '3', '--interval-seconds', '1', '--yes');
  const change = /changed: config 3, 1m -> 1s, .* by local.*; back: cardpoll audit undo \d+$/;
  const took = await named(change);
  const seconds = watch();
  const below = new Set<string>();
  const displaced = new Set<string>();
  while (seconds() < 120) {
    const [first, ...others] = await reasons();
    if (!change.test(first?.text ?? '')) displaced.add(`${seconds()} s: ${first?.text}`);
    for (const { code, caused_by } of others) below.add(`${code} < ${caused_by}`);
    await sleep(1_000);
  }
  expect([...displaced]).toEqual([]);
  expect(await firstLine()).toMatch(/^. \w+: carddata: .*back: cardpoll audit undo \d+/);
  const sent = messages().slice(before);
  expect(sent).toHaveLength(1);
  expect(sent[0]?.text).toMatch(/config 3, 1m -> 1s/);
  lines.push(`1 s: named after ${took} s; below it ${[...below].join(', ')}; message: ${sent[0]?.text}`);
  await fleet.cli('configs', 'set', '3', '--interval-seconds', `${INTERVAL_S}`, '--yes');
  await message(before + 2, ['alert.fired', 'alert.resolved']);
  await calm();
}, 600_000);

it('a wrong token after timeouts is one message, and the end names the token', async () => {
  const before = messages().length;
  gateway.follow((call) => ({
    ...healthy(call),
    delayMs: Number(call.iccid.slice(-4)) % 3 === 0 ? 10_000 : 20,
  }));
  await message(before + 1);
  gateway.follow(() => ({ status: 401, body: '{"code":401,"msg":"token expired"}' }));
  const took = await named(/^(realname, carddata, package: )?\S* ?the gateway refuses our token or key/);
  const changed = await message(before + 2);
  expect(changed).toMatchObject({ event: 'alert.changed', text: expect.stringMatching(/^now: .*token/) });
  gateway.follow(healthy);
  await message(before + 3, ['alert.fired', 'alert.changed', 'alert.resolved']);
  const sent = messages().slice(before);
  expect(sent[2]?.text).toMatch(/^over: .*token/);
  lines.push(`a wrong token: named after ${took} s; ${sent.map(({ text }) => text).join(' | ')}`);
  await calm();
}, 600_000);

it.each(['not found', 'silent'])(
  'a name that is %s is in the first line',
  async (how) => {
    writeFileSync(gone, how);
    gateway.dropConnections();
    const took = await named(/the name of the gateway is not found/);
    expect(await firstLine()).toMatch(/the name of the gateway is not found/);
    lines.push(`a name that is ${how}: named after ${took} s: ${(await reasons())[0]?.text}`);
    unlinkSync(gone);
    await calm();
  },
  600_000,
);
