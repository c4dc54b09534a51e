// From the reading that is over the allowance to the stop call, with a whole engine on real servers: how long a card runs
// on although cardpoll knows, and how far apart its polls are.
import { pino } from 'pino';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { MonthCalendar } from '../../../../src/domain/cards/usage-month.ts';
import type { InterfaceName } from '../../../../src/domain/gateway-interface.ts';
import { phaseHash } from '../../../../src/domain/schedule/phase.ts';
import { TASKS } from '../../../../src/domain/task-type.ts';
import { GatewayClient } from '../../../../src/gateway/call/client.ts';
import { demoIccid } from '../../../../src/gateway/simulate/simulated-fleet.ts';
import { systemClock } from '../../../../src/platform/clock.ts';
import { Teardown } from '../../../../src/platform/service.ts';
import { PostgresClient } from '../../../../src/store/postgres/record-store.ts';
import { openRedisLiveStore } from '../../../../src/store/redis/live-store.ts';
import { sqlRecordStore } from '../../../../src/store/sql/sql-record-store.ts';
import { bareEngine } from '../../../support/bare-engine.ts';
import { cardRow } from '../../../support/cards.ts';
import { freshDatabase, freshRedis } from '../../../support/fresh-stores.ts';
import { gatewayConfig } from '../../../support/gateway-config.ts';
import { HEALTHY } from '../../../support/healthy-answers.ts';
import { startScriptedGateway } from '../../../support/scripted-gateway.ts';
import { waitFor } from '../../../support/wait-for.ts';

const INTERVAL_MS = 30_000;
/** Cards whose turn comes early in every ring, so that the test need not wait for a whole interval. */
const CARDS = Array.from({ length: 5_000 }, (_, i) => i + 1)
  .filter((cardId) => phaseHash(cardId) < 0.1 * 2 ** 32)
  .slice(0, 40);
const [OVER, UNLIMITED] = [CARDS.slice(0, 20), CARDS.slice(20)];
const SHOWN_MB = 5_000;

const teardown = new Teardown();
let client: PostgresClient;
/** When an interface was first called for a card, by `<interface> <iccid>`. */
const firstCall = new Map<string, number>();
/** When the first reading of a card was logged, by its id. */
const readAt = new Map<number, number>();
const called = (interfaceName: InterfaceName, cardId: number) =>
  firstCall.get(`${interfaceName} ${demoIccid(cardId)}`);

beforeAll(async () => {
  client = new PostgresClient({ url: await freshDatabase(), applicationName: 'cardpoll', maxConnections: 8 });
  const records = sqlRecordStore('postgres', client);
  teardown.add(() => records.close());
  await records.migrations.up();
  for (const { id } of await records.configs.list())
    await records.configs.update(id, { intervalSeconds: INTERVAL_MS / 1_000 });
  await records.cards.importChunk(
    CARDS.map((cardId) =>
      cardRow(cardId, { realNameVerified: true, allowanceMb: OVER.includes(cardId) ? 1_000 : null }),
    ),
  );
  const scripted = await startScriptedGateway(({ interfaceName, iccid }) => {
    const key = `${interfaceName} ${iccid}`;
    if (!firstCall.has(key)) firstCall.set(key, Date.now());
    if (interfaceName === 'flow') return { body: { used: SHOWN_MB } };
    const stopped = interfaceName === 'card_status' && firstCall.has(`stop ${iccid}`);
    return { body: stopped ? { cardStatus: 'stopped' } : HEALTHY[interfaceName] };
  });
  teardown.add(() => scripted.close());
  const live = await openRedisLiveStore({ url: (await freshRedis()).url });
  teardown.add(() => live.close());
  const log = pino(
    { base: null },
    {
      write: (line: string) => {
        const { msg, card_id: cardId } = JSON.parse(line);
        if (msg === TASKS.carddata.completed && !readAt.has(cardId)) readAt.set(cardId, Date.now());
      },
    },
  );
  const gateway = new GatewayClient(gatewayConfig({ url: scripted.url }), {
    log: pino({ level: 'silent' }),
    clock: systemClock,
    calendar: new MonthCalendar('Asia/Shanghai'),
  });
  teardown.add(() => gateway.close());
  const engine = bareEngine({ live, records, upstream: gateway, log });
  await engine.start();
  teardown.add(() => engine.stop());
});
afterAll(() => teardown.run());

/** Smallest, middle and largest. */
function words(values: readonly number[]): string {
  const sorted = [...values].sort((a, b) => a - b);
  return [0, 0.5, 1]
    .map((share) => Math.round(sorted[Math.floor(share * (sorted.length - 1))] ?? 0))
    .join(', ');
}

it('stops cards within seconds of the reading that is over, not an interval later', async ({ annotate }) => {
  await waitFor(() => OVER.every((cardId) => called('stop', cardId) !== undefined), {
    what: 'all stop calls',
  });
  const delays = OVER.map((cardId) => (called('stop', cardId) ?? 0) - (readAt.get(cardId) ?? 0));
  await annotate(`ms from the reading that is over to the stop call: ${words(delays)}`);
  expect(Math.max(...delays)).toBeLessThan(0.8 * INTERVAL_MS);
  expect(UNLIMITED.filter((cardId) => called('stop', cardId) !== undefined)).toEqual([]);
});

it('stops a card within seconds when its allowance is lowered below what it used', async ({ annotate }) => {
  await waitFor(() => UNLIMITED.every((cardId) => called('card_status', cardId) !== undefined));
  // Their ring has passed them and comes round after an hour.
  await client.query(`UPDATE polling_configs SET interval_seconds = 3600 WHERE task_type = 'package'`, []);
  const loweredAt = Date.now();
  await client.query('UPDATE cards SET allowance_mb = 4000 WHERE allowance_mb IS NULL', []);
  await waitFor(() => UNLIMITED.every((cardId) => called('stop', cardId) !== undefined), {
    timeoutMs: 60_000,
    what: 'all stop calls',
  });
  const delays = UNLIMITED.map((cardId) => (called('stop', cardId) ?? 0) - loweredAt);
  await annotate(`ms from the lower allowance to the stop call: ${words(delays)}`);
});
