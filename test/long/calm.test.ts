// Half an hour of a healthy fleet at 60 % of its limit, with the recommended alert rules: nothing is said, nobody is told. The
// gateway takes 100 to 300 ms a call, as gateways do. Reads the report once a second and prints all that is not normal.
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { TASK_TYPES } from '../../src/domain/task-type.ts';
import type { OverviewBody } from '../../src/resources/stats.ts';
import { answer, type BadGateway, startBadGateway } from '../support/bad-gateway.ts';
import { Fleet } from '../support/fleet.ts';
import { HEALTHY } from '../support/healthy-answers.ts';
import { waitFor } from '../support/processes.ts';
import { type ScriptedGateway, startScriptedGateway } from '../support/scripted-gateway.ts';

const CARDS = 1_500;
/** 25 polls a second of a type, 200 ms each: 5 of 8 slots. */
const LIMIT = 8;
const INTERVAL_SECONDS = 60;
/** An import of the whole fleet makes all cards due at once; the figures of five minutes are its for so long. */
const SETTLING_SECONDS = 330;
const CALM_MINUTES = 30;

let gateway: ScriptedGateway;
let receiver: BadGateway;
let fleet: Fleet;

beforeAll(async () => {
  let calls = 0;
  gateway = await startScriptedGateway(({ interfaceName }) => {
    calls += 1;
    return { body: HEALTHY[interfaceName], delayMs: 100 + ((calls * 7_919) % 200) };
  });
  receiver = await startBadGateway(answer(204, ''));
  fleet = await Fleet.start({ gatewayUrl: gateway.url });
  await fleet.startDaemon({ CARDPOLL_WEBHOOKS_ALLOW_CIDRS: '127.0.0.1/32' });
  await fleet.setIntervals(INTERVAL_SECONDS);
  await fleet.setLimits(LIMIT);
  await fleet.importCards(CARDS);
  await fleet.cli('alerts', 'recommended', '--apply', '--webhook-url', receiver.url);
});
afterAll(async () => {
  fleet?.close();
  await gateway?.close();
  await receiver?.close();
});

it(`says nothing for ${CALM_MINUTES} minutes of a healthy fleet`, { timeout: 2_700_000 }, async () => {
  await sleep(SETTLING_SECONDS * 1_000);
  await waitFor(async () => (await overview()).health === 'normal', {
    everyMs: 1_000,
    timeoutMs: 300_000,
    what: 'health to be normal',
  });
  const messagesBefore = receiver.requests.length;
  const said: string[] = [];
  const shares: number[] = [];
  const endsAt = Date.now() + CALM_MINUTES * 60_000;
  while (Date.now() < endsAt) {
    const { health, health_reasons, tasks } = await overview();
    for (const { concurrency } of tasks) shares.push(concurrency.current / LIMIT);
    if (health !== 'normal') {
      const reasons = health_reasons.map(({ severity, code, text }) => `${severity} ${code}: ${text}`);
      said.push(`${new Date().toISOString().slice(11, 19)} ${reasons.join('; ')}`);
      process.stdout.write(`  ${said.at(-1)}\n`);
    }
    await sleep(1_000);
  }
  const readings = shares.length / TASK_TYPES.length;
  const messages = receiver.requests.slice(messagesBefore).map(({ body }) => body);
  const mean = shares.reduce((sum, share) => sum + share, 0) / shares.length;
  process.stdout.write(
    `${readings} readings, ${said.length} not normal, ${messages.length} messages; ${Math.round(mean * 100)} % of the limits in use\n`,
  );
  expect({ said, messages }).toEqual({ said: [], messages: [] });
});

function overview(): Promise<OverviewBody> {
  return fleet.get<OverviewBody>('/api/admin/polling-stats');
}
