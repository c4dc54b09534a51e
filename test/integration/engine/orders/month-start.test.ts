// The run of a month that begins and its audit entry, in a real database: both once, or neither.
import { pino } from 'pino';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { MonthCalendar } from '../../../../src/domain/cards/month-calendar.ts';
import { MonthStart } from '../../../../src/engine/orders/order-upkeep.ts';
import { Audit } from '../../../../src/operations/audit.ts';
import { systemClock } from '../../../../src/platform/clock.ts';
import type { RecordStore } from '../../../../src/store/ports/records/record-store.ts';
import { PostgresClient } from '../../../../src/store/postgres/record-store.ts';
import { sqlRecordStore } from '../../../../src/store/sql/sql-record-store.ts';
import { freshDatabase } from '../../../support/fresh-stores.ts';
import { fill } from '../../../support/resume-run.ts';

const calendar = new MonthCalendar('Asia/Shanghai');
const log = pino({ level: 'silent' });

let client: PostgresClient;
let records: RecordStore;

beforeAll(async () => {
  client = new PostgresClient({ url: await freshDatabase(), applicationName: 'cardpoll', maxConnections: 4 });
  records = sqlRecordStore('postgres', client);
  await records.migrations.up();
  await client.query(
    "INSERT INTO cards (card_id, iccid, carrier_id, status, stopped) SELECT i, '898600000000000000' || i, 1, 1, true FROM generate_series(1, 3) i",
    [],
  );
  await client.query(
    "INSERT INTO card_stops (card_id, month, iccid, used_mb, state) SELECT i, '2026-11-01', '898600000000000000' || i, 2, 'done' FROM generate_series(1, 2) i",
    [],
  );
});
afterAll(() => records.close());

const NEW_MONTH = '2026-12-01T03:00:00+08:00';

/** A leader's look at the month, by the clocks of the two stores. */
function look(byRecords = NEW_MONTH, byLive = NEW_MONTH): Promise<void> {
  return new MonthStart({
    enabled: true,
    records: { now: async () => Date.parse(byRecords), resumes: records.resumes },
    live: { now: async () => Date.parse(byLive) },
    audit: new Audit({ records, clock: systemClock, calendar, log }),
    calendar,
    clock: systemClock,
    log,
  }).run();
}

it('makes no run while a month has begun by the clock of one store only', async () => {
  const before = '2026-11-26T03:00:00+08:00';
  await look(NEW_MONTH, before);
  await look(before, NEW_MONTH);
  expect(await records.resumes.latest(10)).toEqual([]);
});

it('makes one run, however many leaders look', async () => {
  await Promise.all([look(), look(), look()]);
  await look();
  const [made] = await records.resumes.latest(10);
  const run = await fill(records, String(made?.id));
  expect(run).toMatchObject({ by: 'daemon', total: 2, waiting: 2 });
  const entries = await client.query(
    "SELECT actor, object, after FROM audit WHERE action = 'stops.resume'",
    [],
  );
  expect(entries).toMatchObject([{ actor: 'daemon', object: `resume run ${run.id}`, after: { cards: 2 } }]);
});
