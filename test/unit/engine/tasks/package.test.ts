// The package task against a real gateway simulator and a real database: one stop a card and month, whatever happens.
import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { Card } from '../../../../src/domain/card.ts';
import { MonthCalendar } from '../../../../src/domain/usage-month.ts';
import { Deadline } from '../../../../src/engine/deadline.ts';
import { PackageTask } from '../../../../src/engine/tasks/package.ts';
import { type GatewayClient, openGatewayClient } from '../../../../src/gateway/client.ts';
import { demoIccid } from '../../../../src/gateway/demo-fleet.ts';
import { gatewayProfile } from '../../../../src/gateway/profile.ts';
import { type Simulator, startSimulator } from '../../../../src/gateway/simulator.ts';
import { systemClock } from '../../../../src/platform/clock.ts';
import { openPostgresRecordStore } from '../../../../src/store/postgres/record-store.ts';
import type { RecordStore, StopRecords } from '../../../../src/store/record-store.ts';
import { freshDatabase } from '../../../support/fresh-stores.ts';

const LEASE_MS = 15_000;
const log = pino({ level: 'silent' });
const calendar = new MonthCalendar('Asia/Shanghai');

let records: RecordStore;
let simulator: Simulator;
let gateway: GatewayClient;
let cardId = 0;
let card: Card;
/** How far this process's clock is ahead: a pause. */
let pausedMs = 0;
const clock = { now: () => Date.now() + pausedMs, monotonic: () => performance.now() + pausedMs };

beforeAll(async () => {
  records = await openPostgresRecordStore({ url: await freshDatabase(), applicationName: 'cardpoll' });
  await records.migrations.up();
  simulator = await startSimulator({ host: '127.0.0.1', port: 0 });
  gateway = openGatewayClient(gatewayProfile({ url: simulator.url }), { log, clock: systemClock });
});
afterAll(async () => {
  await gateway.close();
  await simulator.close();
  await records.close();
});

beforeEach(() => {
  cardId += 1;
  pausedMs = 0;
  const readAtMs = Date.now();
  card = {
    cardId,
    iccid: demoIccid(cardId),
    carrierId: 1,
    status: 1,
    realNameVerified: true,
    stopped: false,
    allowanceMb: 10,
    usage: { month: calendar.monthOf(readAtMs), usedMb: 11, lastReadingMb: 11, readAtMs },
  };
});

function poll(of: Card, stops: StopRecords = records.stops) {
  const task = new PackageTask({ gateway, stops, clock, calendar, leaseMs: LEASE_MS, log });
  return task.poll(of, new Deadline(clock, clock.monotonic(), LEASE_MS));
}

function stopCalls(): number {
  return simulator.stats().stops[card.iccid] ?? 0;
}

it('stops a card over its package once, and tells when somebody resumed it', async () => {
  expect((await poll(card)).outcome.stopped).toBe(true);
  expect((await poll({ ...card, stopped: true })).outcome.stopped).toBeUndefined();
  expect(stopCalls()).toBe(1);

  await gateway.call('start', card, 1_000);
  const resumed = await poll({ ...card, stopped: true });
  expect(resumed.outcome.stopped).toBe(false);
  expect(resumed.fields).toMatchObject({ over_package: true, stopped: false });
  expect((await poll(card)).outcome.stopped).toBeUndefined();
  expect(stopCalls()).toBe(1);
});

it('does not call after a pause that outlasted its lease, and leaves the stop to the next poll', async () => {
  const answersLate: StopRecords = {
    claim: async (stop, leaseMs) => {
      const claim = await records.stops.claim(stop, leaseMs);
      pausedMs = LEASE_MS;
      return claim;
    },
    complete: (...args) => records.stops.complete(...args),
    abandon: (...args) => records.stops.abandon(...args),
  };
  await expect(poll(card, answersLate)).rejects.toMatchObject({ code: 'lease_over' });
  expect(stopCalls()).toBe(0);
  expect((await poll(card)).outcome.stopped).toBe(true);
  expect(stopCalls()).toBe(1);
});
