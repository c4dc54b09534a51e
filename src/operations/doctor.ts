// What `cardpoll doctor` finds out about the surroundings of a daemon: stores, clocks, schema, gateway, directories. It
// opens its own connections and changes nothing. The probes that are no store come from outside (src/doctor.ts).
import type { Clock } from '../platform/clock.ts';
import { CardpollError, messageOf } from '../platform/errors.ts';
import type { LiveStore } from '../store/live-store.ts';
import type { RecordStore } from '../store/record-store.ts';

export interface Finding {
  readonly check: string;
  readonly status: 'ok' | 'warning' | 'failed' | 'skipped';
  readonly detail: string;
  /** What to do about it. */
  readonly hint: string | null;
}

/** Says what was found, or throws a CardpollError. */
export type Probe = () => Promise<string>;

export interface Surroundings {
  /** null: the embedded one, which exists only inside a daemon. */
  readonly openLive: (() => Promise<LiveStore>) | null;
  readonly openRecords: (() => Promise<RecordStore>) | null;
  readonly probes: ReadonlyArray<readonly [check: string, Probe]>;
  readonly clock: Clock;
}

/** Differences of clocks up to here are harmless, and up to there bearable. */
const SKEW_OK_MS = 1_000;
const SKEW_BEARABLE_MS = 10_000;
const EVICTS = 'redis_evicts';

/** All findings, in a fixed order. Never throws for what it finds. */
export async function examine({ openLive, openRecords, probes, clock }: Surroundings): Promise<Finding[]> {
  const groups = await Promise.all([
    openLive === null ? [embedded('redis')] : examineLive(openLive, clock),
    openRecords === null ? [embedded('postgresql')] : examineRecords(openRecords, clock),
    ...probes.map(async ([check, probe]) => [await findingOf(check, probe)]),
  ]);
  return groups.flat();
}

/** Runs one probe: what it says is good, what it throws is the finding. */
async function findingOf(check: string, probe: Probe): Promise<Finding> {
  try {
    return { check, status: 'ok', detail: await probe(), hint: null };
  } catch (error) {
    return failed(check, error);
  }
}

function skipped(check: string, detail: string): Finding {
  return { check, status: 'skipped', detail, hint: null };
}

function failed(check: string, error: unknown): Finding {
  const hint = error instanceof CardpollError ? (error.hint ?? null) : null;
  return { check, status: 'failed', detail: messageOf(error), hint };
}

function embedded(check: string): Finding {
  return {
    check,
    status: 'warning',
    detail: 'the embedded store is used, which is for trying out only',
    hint: 'configure Redis and PostgreSQL for a fleet',
  };
}

async function examineLive(open: () => Promise<LiveStore>, clock: Clock): Promise<Finding[]> {
  const policy = 'redis maxmemory-policy';
  let live: LiveStore;
  try {
    live = await open();
  } catch (error) {
    const evicts = error instanceof CardpollError && error.code === EVICTS;
    if (evicts) return [ok('redis', 'answers'), failed(policy, error), skipped('redis clock', 'see above')];
    return [failed('redis', error), skipped(policy, 'see above'), skipped('redis clock', 'see above')];
  }
  try {
    return [
      ok('redis', 'answers'),
      ok(policy, 'noeviction'),
      await clockFinding('redis clock', () => live.now(), clock),
    ];
  } finally {
    await live.close();
  }
}

async function examineRecords(open: () => Promise<RecordStore>, clock: Clock): Promise<Finding[]> {
  const records = await open();
  try {
    await records.ping();
    return [
      ok('postgresql', 'answers'),
      await migrationFinding(records),
      await clockFinding('postgresql clock', () => records.now(), clock),
    ];
  } catch (error) {
    return [
      failed('postgresql', error),
      skipped('migrations', 'see above'),
      skipped('postgresql clock', 'see above'),
    ];
  } finally {
    await records.close();
  }
}

async function migrationFinding(records: RecordStore): Promise<Finding> {
  const states = await records.migrations.status();
  const missing = states.filter(({ appliedAtMs }) => appliedAtMs === null).map(({ id }) => id);
  if (missing.length === 0) return ok('migrations', `all ${states.length} applied`);
  return {
    check: 'migrations',
    status: 'warning',
    detail: `missing: ${missing.join(', ')}`,
    hint: 'the next daemon that starts applies them, or run cardpoll migrate up',
  };
}

async function clockFinding(check: string, read: () => Promise<number>, clock: Clock): Promise<Finding> {
  try {
    const askedMs = clock.now();
    const theirsMs = await read();
    const skewMs = Math.round(theirsMs - (askedMs + clock.now()) / 2);
    const detail = `${skewMs >= 0 ? '+' : ''}${skewMs} ms against this machine`;
    if (Math.abs(skewMs) <= SKEW_OK_MS) return ok(check, detail);
    const status = Math.abs(skewMs) <= SKEW_BEARABLE_MS ? 'warning' : 'failed';
    return {
      check,
      status,
      detail,
      hint: 'synchronise the clocks of both machines (chrony, systemd-timesyncd)',
    };
  } catch (error) {
    return failed(check, error);
  }
}

function ok(check: string, detail: string): Finding {
  return { check, status: 'ok', detail, hint: null };
}
