// From an order in the database to the call at the gateway, with a whole engine on real servers. The package config is
// disabled, so that no card is polled unless there is an order for it.
import { pino } from 'pino';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { MonthCalendar } from '../../../../src/domain/cards/month-calendar.ts';
import type { InterfaceName } from '../../../../src/domain/gateway-interface.ts';
import { GatewayClient } from '../../../../src/gateway/call/client.ts';
import { demoIccid } from '../../../../src/gateway/simulate/simulated-fleet.ts';
import { systemClock } from '../../../../src/platform/clock.ts';
import { NO_PROXIES } from '../../../../src/platform/proxy/http-proxy.ts';
import { Teardown } from '../../../../src/platform/service.ts';
import type { LiveStore } from '../../../../src/store/ports/live/live-store.ts';
import type { RecordStore } from '../../../../src/store/ports/records/record-store.ts';
import { PostgresClient } from '../../../../src/store/postgres/record-store.ts';
import { openRedisLiveStore } from '../../../../src/store/redis/live-store.ts';
import { sqlRecordStore } from '../../../../src/store/sql/sql-record-store.ts';
import { bareEngine } from '../../../support/bare-engine.ts';
import { cardRow } from '../../../support/cards.ts';
import { freshDatabase, freshRedis } from '../../../support/fresh-stores.ts';
import { gatewayConfig } from '../../../support/gateway-config.ts';
import { HEALTHY } from '../../../support/healthy-answers.ts';
import { emptyRun } from '../../../support/resume-run.ts';
import { type ScriptedGateway, startScriptedGateway } from '../../../support/scripted-gateway.ts';
import { waitFor } from '../../../support/wait-for.ts';

const ZONE = 'Asia/Shanghai';
const CALENDAR = new MonthCalendar(ZONE);
const MONTH = CALENDAR.monthOf(Date.now());
const BY = { by: 'alice', reason: 'a test' };
/** Cards by what happens to them. */
const [ORDERED, RELEASED, FIRST, LAST] = [1, 2, 11, 40];
const RUN = Array.from({ length: LAST - FIRST + 1 }, (_, i) => FIRST + i);

const teardown = new Teardown();
let client: PostgresClient;
let records: RecordStore;
let live: LiveStore;
let scripted: ScriptedGateway;
/** What the gateway knows. */
const stopped = new Set(RUN.map((cardId) => demoIccid(cardId)));

const calls = (name: InterfaceName, cardId: number) =>
  scripted.callsOf.get(`${name} ${demoIccid(cardId)}`) ?? 0;

beforeAll(async () => {
  client = new PostgresClient({ url: await freshDatabase(), applicationName: 'cardpoll', maxConnections: 8 });
  records = sqlRecordStore('postgres', client);
  teardown.add(() => records.close());
  await records.migrations.up();
  await client.query('UPDATE polling_configs SET status = 0', []);
  await records.cards.importChunk(
    [ORDERED, RELEASED, ...RUN].map((cardId) => cardRow(cardId, { realNameVerified: true, allowanceMb: 10 })),
  );
  await client.query('UPDATE cards SET stopped = true WHERE card_id >= $1', [FIRST]);
  scripted = await startScriptedGateway(({ interfaceName, iccid }) => {
    if (interfaceName === 'stop') stopped.add(iccid);
    if (interfaceName === 'start') stopped.delete(iccid);
    const isStopped = interfaceName === 'card_status' && stopped.has(iccid);
    return { body: isStopped ? { cardStatus: 'stopped' } : HEALTHY[interfaceName] };
  });
  teardown.add(() => scripted.close());
  live = await openRedisLiveStore({ url: (await freshRedis()).url });
  teardown.add(() => live.close());
  const log = pino({ level: 'silent' });
  const gateway = new GatewayClient(gatewayConfig({ url: scripted.url }), {
    log,
    clock: systemClock,
    calendar: CALENDAR,
    proxies: NO_PROXIES,
  });
  teardown.add(() => gateway.close());
  const engine = bareEngine({ live, records, upstream: gateway, log });
  await engine.start();
  teardown.add(() => engine.stop());
});
afterAll(() => teardown.run());

const isStopped = async (cardId: number) => (await records.cards.find(String(cardId)))?.stopped;

it('stops a card as an operator ordered, although the cache knows nothing of the order', async () => {
  await live.cards.put(await records.cards.byIds([ORDERED]), 600_000);
  expect(await records.stops.order(ORDERED, MONTH, BY)).toBe('ordered');
  await waitFor(() => isStopped(ORDERED), { what: 'the stop' });
  expect(calls('stop', ORDERED)).toBe(1);
});

it('places the cards of a run, resumes each with one call, and leaves the others alone', async () => {
  const { id } = await emptyRun(records, { cardIds: RUN });
  const run = await waitFor(
    async () => {
      const found = await records.resumes.find(id);
      return found?.waiting === 0 ? found : null;
    },
    { what: 'the run' },
  );
  expect(run).toMatchObject({ total: RUN.length, resumed: RUN.length, failed: 0 });
  expect(RUN.map((cardId) => calls('start', cardId))).toEqual(RUN.map(() => 1));
  expect(await Promise.all(RUN.map(isStopped))).toEqual(RUN.map(() => false));
  expect(calls('card_status', RELEASED), 'no order, no config').toBe(0);
});

it('carries out a held stop when it is released, waits while the task type is paused, and drops unwanted ones', async () => {
  const readAtMs = Date.now();
  const next = { month: MONTH, usedMb: 11, lastReadingMb: 11, suspectedMb: null, jump: null, readAtMs };
  const overPackage = (cardId: number) =>
    ({ cardId, taskType: 'carddata', polledAtMs: readAtMs, usage: { next, basedOnReadAtMs: null } }) as const;
  await records.results.write([RELEASED, FIRST].map(overPackage));
  const none = { mode: 'enforce', maxPerHour: 0, maxPerDay: 0 } as const;
  for (const cardId of [RELEASED, FIRST])
    await records.stops.claim({ cardId, iccid: demoIccid(cardId), vendorId: null }, MONTH, 15_000, none);
  const pause = { source: 'operator', ms: 600_000, reason: 'a test', by: 'alice' } as const;
  await live.work.pause('package', pause);
  await client.query('UPDATE cards SET allowance_mb = 5000 WHERE card_id = $1', [FIRST]);
  expect(await records.stops.release([RELEASED], BY)).toEqual([RELEASED]);
  const turn = { most: 10, stops: true, resumes: true, mode: 'enforce' } as const;
  await waitFor(async () => (await records.orders.due(turn)) === 1, { what: 'the order to be due' });
  await waitFor(async () => (await records.stops.ofCard(FIRST, 1)).length === 0, {
    timeoutMs: 30_000,
    what: 'the held stop of a card with a higher allowance to be dropped',
  });
  expect(calls('stop', RELEASED)).toBe(0);
  await live.work.resume('package');
  await waitFor(() => isStopped(RELEASED), { what: 'the stop' });
  expect(calls('stop', RELEASED)).toBe(1);
  expect(calls('stop', FIRST)).toBe(0);
});
