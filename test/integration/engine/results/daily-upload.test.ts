// Devices that upload once a day at the same time, in compressed time, also for the database: 60 of 300 cards pass their
// allowance in the upload, every reading is true, and every one of the 60 must be stopped.
import pg from 'pg';
import { pino } from 'pino';
import { expect, it } from 'vitest';
import { UsageJumpWatch } from '../../../../src/engine/results/usage-jump-watch.ts';
import { openPostgresRecordStore } from '../../../../src/store/postgres/record-store.ts';
import { CompressedFleet } from '../../../support/compressed-fleet.ts';
import { emptyDatabase } from '../../../support/fresh-stores.ts';
import { UNLIMITED } from '../../../support/stop-rules.ts';

const CARDS = 300;
const OVER = 60;
const ALLOWANCE_MB = 100;
const MINUTE_MS = 60_000;
const DAY_HOURS = 24;
const KEEP_ALIVE_MB = 0.002;
const INTERVAL_MS = 240_000;
const iccidOf = (cardId: number) => `8986${String(cardId).padStart(16, '0')}`;
const CARD_IDS = Array.from({ length: CARDS }, (_, i) => i + 1);

/**
 * One day: eight minutes of keep-alive, the upload, and twelve minutes after it.
 * @param hours what the watch remembers of the days before
 */
async function day(hours: ReadonlyMap<number, number>) {
  const url = await emptyDatabase();
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const sql = (text: string) => client.query(text);
  // The clock of the database is the test's: names are looked up here before they are in pg_catalog.
  await sql(`SET search_path = public, pg_catalog`);
  await sql(`CREATE TABLE test_clock (at timestamptz)`);
  await sql(`INSERT INTO test_clock VALUES (now())`);
  await sql(`CREATE FUNCTION public.clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE
    AS 'SELECT at FROM public.test_clock'`);
  await sql(
    `DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET search_path = public, pg_catalog', current_database()); END $$`,
  );
  const records = await openPostgresRecordStore({ url, applicationName: 'cardpoll-test' });
  const fleet = await CompressedFleet.start({
    taskTypes: ['carddata'],
    cards: CARDS,
    intervalSeconds: INTERVAL_MS / 1_000,
    limit: 50,
  });
  try {
    const setClock = () => sql(`UPDATE test_clock SET at = to_timestamp(${fleet.time.now()} / 1000.0)`);
    await setClock();
    await records.migrations.up();
    await sql('ALTER TABLE card_stops ALTER COLUMN requested_at SET DEFAULT clock_timestamp()');
    await records.results.ensurePartitions('2026-11');
    await sql(`INSERT INTO cards (card_id, iccid, carrier_id, allowance_mb)
      SELECT i, '8986' || lpad(i::text, 16, '0'), 1, ${ALLOWANCE_MB} FROM generate_series(1, ${CARDS}) i`);
    await sql(`UPDATE cards SET allowance_changed_at = '2026-10-01'`);
    for (const [hour, mbPerHour] of hours) await fleet.live.stats.noteUsagePeak(hour, mbPerHour);
    const beganMs = fleet.time.now();
    let uploadedMb = 0;
    fleet.usedMb = (cardId) =>
      (cardId <= OVER ? ALLOWANCE_MB - 10 : 10) +
      uploadedMb +
      (KEEP_ALIVE_MB * (fleet.time.now() - beganMs)) / INTERVAL_MS;
    const watch = new UsageJumpWatch({
      live: fleet.live,
      records: records.stopControl,
      jumpFactor: 20,
      fence: () => 1,
      clock: fleet.time,
      log: pino({ enabled: false }),
      onError: (error) => expect.unreachable(String(error)),
    });
    const writtenAt = new Map<number, number>();
    const minutes = async (count: number) => {
      for (let minute = 0; minute < count; minute += 1) {
        await fleet.time.run(MINUTE_MS);
        await setClock();
        await watch.runOnce();
        const read = CARD_IDS.flatMap((cardId) => {
          const next = fleet.usage.get(cardId);
          const basedOnReadAtMs = writtenAt.get(cardId) ?? null;
          if (next === undefined || next.readAtMs === basedOnReadAtMs) return [];
          writtenAt.set(cardId, next.readAtMs);
          const usage = { next, basedOnReadAtMs };
          return [
            {
              cardId,
              iccid: iccidOf(cardId),
              taskType: 'carddata' as const,
              polledAtMs: next.readAtMs,
              usage,
            },
          ];
        });
        await records.results.write(read);
        const ids = read.map(({ cardId }) => cardId);
        const rules = { ...UNLIMITED, maxPerHour: 100 };
        await records.orders.want(ids, '2026-11', rules, () => true);
        const turn = { most: 1_000, resumesFirst: 0, stops: true, resumes: false, mode: 'enforce' as const };
        for (const { cardId } of await records.orders.take(turn, 15_000)) {
          const card = { cardId, iccid: iccidOf(cardId), vendorId: null };
          const claim = await records.stops.claim(card, '2026-11', 15_000, rules);
          if (claim.state === 'granted') await records.stops.complete(card, '2026-11');
        }
      }
    };
    const count = async (state: 'done' | 'held') =>
      (await records.stops.list({ state, sinceMs: null, carrierId: null }, { offset: 0, limit: 1 })).total;
    await minutes(8);
    uploadedMb = 15;
    await minutes(4);
    const held = await count('held');
    await minutes(12);
    return {
      held,
      done: await count('done'),
      heldAfter: await count('held'),
      hours: (await fleet.live.stats.usageGrowth()).hours,
    };
  } finally {
    await fleet.stop();
    await records.close();
    await client.end();
  }
}

it('stops every card that passed its allowance: on the first day after the upload, later at once', async () => {
  const first = await day(new Map());
  expect(first.held, 'the upload looks like a wrong unit').toBeGreaterThan(20);
  expect(first).toMatchObject({ done: OVER, heldAfter: 0 });
  const yesterday = new Map([...first.hours].map(([hour, mbPerHour]) => [hour - DAY_HOURS, mbPerHour]));
  expect(await day(yesterday)).toMatchObject({ held: 0, done: OVER, heldAfter: 0 });
});
