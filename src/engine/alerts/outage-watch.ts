// Notifies receivers when a store is down, because the rules need a leader and a leader needs both stores. Runs on every
// instance. After 20 s without a store, the reporter of the outage depends on the store:
//
// - Redis alone: the first instance that opens the outage in the alert history, where only one can be open. Its notices go to the
//   webhook outbox, which every instance then sends (`sendsForAll`); each notice is claimed by one.
// - PostgreSQL alone, also when it takes no writes: the holder of a lease in Redis, and only if no instance can lead. Otherwise
//   only some instances are affected, and the rules report it.
// - both: each instance, with a sentence that this is its own view, and the same `dedup_key`, because the instances cannot agree.
//
// When PostgreSQL is back, the outage and its notices go into the history, and undelivered notices into the outbox. The outage is
// over when both stores have answered for 60 s.
//
// Rules and silences are those read up to 30 s before the outage. If all instances that saw the outage die, the leader ends it
// when it is an hour old. A database that answers some statements and not others counts as up: the leader continues, and the
// rules report it.
import type { AlertCause } from '../../domain/alerts/alert-cause.ts';
import { ALERT_FIRED, ALERT_RESOLVED } from '../../domain/log-phrases.ts';
import type { Logger } from '../../platform/logger.ts';
import { type LoopDeps, LoopService } from '../../platform/loop.ts';
import type { Coordination, InstanceInfo } from '../../store/ports/live/coordination.ts';
import type { AlertRecords, SilenceRecords } from '../../store/ports/records/alert-records.ts';
import { type NoticeDeps, OutageNotices } from './outage-notices.ts';

const LOOK_EVERY_MS = 1_000;
const NOTICE_AFTER_MS = 20_000;
const OVER_AFTER_MS = 60_000;
const LEASE = 'outage';
const LEASE_MS = 30_000;
const REFRESH_EVERY_MS = 30_000;
/** Age at which the leader ends an outage when all instances that saw it are gone. */
const FORGOTTEN_AFTER_MS = 3_600_000;

interface Watched {
  readonly outage: { readonly lastsMs: number; readonly reason: string } | null;
}

interface Outage {
  /** Start of the outage, by the monotonic clock. */
  readonly began: number;
  readonly cause: AlertCause;
  /** True when another instance reports this outage. */
  isOfAnother: boolean;
  isRecorded: boolean;
}

export class OutageWatch extends LoopService<
  LoopDeps &
    NoticeDeps & {
      readonly live: { readonly coordination: Pick<Coordination, 'lead' | 'instances'> };
      readonly alerts: Pick<AlertRecords, 'rules' | 'outages'> & {
        readonly silences: Pick<SilenceRecords, 'list'>;
      };
      readonly instanceId: string;
      readonly redis: Watched;
      readonly postgres: Watched;
      readonly leads: () => boolean;
      readonly log: Logger;
    }
> {
  readonly name = 'outage-watch';
  readonly #notices = new OutageNotices(this.deps);
  #outage: Outage | null = null;
  /** Since when both stores have answered, by the monotonic clock; null: at least one does not. */
  #okSince: number | null = null;
  #refreshedAt = Number.NEGATIVE_INFINITY;

  /** True while no instance leads: every instance then sends the outbox. */
  get sendsForAll(): boolean {
    const { redis, postgres } = this.deps;
    return isAway(redis) && postgres.outage === null;
  }

  async runOnce(stopped: AbortSignal): Promise<number> {
    const { clock, redis, postgres } = this.deps;
    const now = clock.monotonic();
    const isOk = redis.outage === null && postgres.outage === null;
    this.#okSince = isOk ? (this.#okSince ?? now) : null;
    if (isAway(redis) || isAway(postgres)) await this.#tell(stopped);
    // An outage reported without PostgreSQL, also while Redis is still down.
    const outage = this.#outage;
    if (outage !== null && postgres.outage === null) await this.#record(outage);
    if (this.#okSince === null) return LOOK_EVERY_MS;
    const okMs = now - this.#okSince;
    if (outage !== null && okMs >= OVER_AFTER_MS) await this.#end(okMs, 0);
    if (now - this.#refreshedAt >= REFRESH_EVERY_MS) await this.#refresh(now, okMs);
    return LOOK_EVERY_MS;
  }

  async #tell(stopped: AbortSignal): Promise<void> {
    const { live, instanceId, redis, postgres } = this.deps;
    if (postgres.outage === null) {
      this.#note('redis', `Redis does not answer ${instanceId}${asFor(redis)}; it does not see the others`);
      return;
    }
    // For some seconds it is unknown whether the other store is down, too.
    if (!isAway(postgres) || (redis.outage !== null && !isAway(redis))) return;
    if (redis.outage === null) {
      const instances = await live.coordination.instances();
      if (instances.some(canLead)) return;
      const none = `PostgreSQL cannot be used by any of ${instances.length} instances, says ${instanceId}`;
      const outage = this.#note('database_outage', none + asFor(postgres));
      const tells = (await live.coordination.lead(LEASE, instanceId, LEASE_MS)) !== null;
      outage.isOfAnother = !tells && this.#notices.sent === null;
    } else {
      const both = `neither Redis nor PostgreSQL answers ${instanceId}${asFor(redis)}${asFor(postgres)}`;
      this.#note('redis', `${both}; it does not see the others, and may itself be cut off`);
    }
    const outage = this.#outage;
    if (outage === null || outage.isOfAnother) return;
    const lastsMs = this.deps.clock.monotonic() - outage.began;
    await this.#notices.send(outage.cause, this.deps.clock.now() - lastsMs, stopped);
  }

  /** An open outage keeps its first text. */
  #note(code: string, text: string): Outage {
    if (this.#outage !== null) return this.#outage;
    const { clock, log, redis, postgres } = this.deps;
    const lastsMs = Math.max(redis.outage?.lastsMs ?? 0, postgres.outage?.lastsMs ?? 0);
    const cause = { code, severity: 'alert', text, command: 'cardpoll doctor' } as const;
    log.warn({ rule_name: 'Stores', reason: text }, ALERT_FIRED);
    this.#outage = { began: clock.monotonic() - lastsMs, cause, isOfAnother: false, isRecorded: false };
    return this.#outage;
  }

  async #record(outage: Outage): Promise<void> {
    if (outage.isRecorded || outage.isOfAnother) return;
    const beganMsAgo = this.deps.clock.monotonic() - outage.began;
    const { sent: notices } = this.#notices;
    const opened = await this.deps.alerts.outages.open({ cause: outage.cause, beganMsAgo, notices });
    outage.isRecorded = opened !== null;
    if (outage.isRecorded) this.#notices.clear();
  }

  async #end(okMs: number, leastAgeMs: number): Promise<void> {
    const closed = await this.deps.alerts.outages.close(okMs, leastAgeMs);
    if (closed) this.deps.log.info({ rule_name: 'Stores', resolution: 'recovered' }, ALERT_RESOLVED);
    this.#outage = null;
  }

  /** Reads the receivers and silences to use during an outage. */
  async #refresh(now: number, okMs: number): Promise<void> {
    const { alerts, leads } = this.deps;
    const { items } = await alerts.rules({ offset: 0, limit: 1_000 });
    this.#notices.remember(items, await alerts.silences.list());
    if (leads() && this.#outage === null) await this.#end(okMs, FORGOTTEN_AFTER_MS);
    this.#refreshedAt = now;
  }
}

function isAway({ outage }: Watched): boolean {
  return outage !== null && outage.lastsMs >= NOTICE_AFTER_MS;
}

function asFor({ outage }: Watched): string {
  return outage === null ? '' : `: ${outage.reason}`;
}

/** True for an instance that reaches the database, even if the database is too slow for cards or takes no results. */
function canLead({ roles, databaseOutage }: InstanceInfo): boolean {
  return roles.includes('scheduler') && (databaseOutage === null || databaseOutage.part !== undefined);
}
