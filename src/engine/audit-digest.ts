// Writes repeated changes by the daemon itself (adapted limits, pauses that the gateway asks for) to the audit trail: the first
// change at once, then all changes of ten minutes in one entry, so that a busy night leaves hundreds of entries instead of
// millions. note() never waits: an unavailable record store delays neither polling nor a reload, and noted changes are written
// when it is back. Built by wiring, one per instance.
import { type AuditChange, DAEMON } from '../domain/audit.ts';
import { type LoopDeps, LoopService } from '../platform/loop.ts';
import type { AuditTrail } from '../store/ports/records/audit-trail.ts';

const LOOK_EVERY_MS = 1_000;
/** Shortest time between two entries of the same action and object. */
const GATHER_MS = 600_000;

interface Gathered {
  /** The value before the first change and the value after the last one. */
  readonly change: AuditChange;
  readonly times: number;
  readonly since: Date;
}

export class AuditDigest extends LoopService<LoopDeps & { readonly audit: Pick<AuditTrail, 'record'> }> {
  readonly name = 'audit-digest';
  readonly #waiting = new Map<string, Gathered>();
  /** When each action on an object was last recorded, by the monotonic clock. */
  readonly #recordedAt = new Map<string, number>();

  note(change: AuditChange): void {
    const key = keyOf(change);
    this.#gather(key, { change, times: 1, since: new Date(this.deps.clock.now()) });
    if (this.#isDue(key)) this.wake();
  }

  async runOnce(): Promise<number> {
    for (const key of [...this.#waiting.keys()].filter((one) => this.#isDue(one))) await this.#record(key);
    return LOOK_EVERY_MS;
  }

  /** Writes the noted changes that are still pending. */
  override async stop(): Promise<void> {
    await super.stop();
    for (const key of [...this.#waiting.keys()]) await this.#record(key);
  }

  #isDue(key: string): boolean {
    const recordedAt = this.#recordedAt.get(key);
    return recordedAt === undefined || this.deps.clock.monotonic() - recordedAt >= GATHER_MS;
  }

  #gather(key: string, later: Gathered): void {
    const earlier = this.#waiting.get(key);
    this.#waiting.set(key, earlier === undefined ? later : merged(earlier, later));
  }

  async #record(key: string): Promise<void> {
    const gathered = this.#waiting.get(key);
    if (gathered === undefined) return;
    this.#waiting.delete(key);
    try {
      await this.deps.audit.record(DAEMON, summed(gathered));
      this.#recordedAt.set(key, this.deps.clock.monotonic());
    } catch (error) {
      const later = this.#waiting.get(key);
      this.#waiting.set(key, later === undefined ? gathered : merged(gathered, later));
      throw error;
    }
  }
}

function merged(earlier: Gathered, later: Gathered): Gathered {
  return {
    change: { ...later.change, before: earlier.change.before },
    times: earlier.times + later.times,
    since: earlier.since,
  };
}

function summed({ change, times, since }: Gathered): AuditChange {
  return times === 1 ? change : { ...change, after: { ...Object(change.after), times, since } };
}

function keyOf({ action, object }: AuditChange): string {
  return `${action} ${object}`;
}
