// Renews the leases of cards whose result waits for the record store, because an outage of the record store lasts longer than a
// lease: no worker polls these cards again meanwhile. Used by result-writer.ts. When this process dies its results are lost, the
// leases expire, and the cards are polled again.
import { groupBy } from '../../domain/group-by.ts';
import type { TaskType } from '../../domain/task-type.ts';
import { type LoopDeps, LoopService } from '../../platform/loop.ts';
import type { WorkItem, WorkQueue } from '../../store/ports/live/work-queue.ts';

interface Held {
  readonly taskType: TaskType;
  /** The item with its current token. */
  item: WorkItem;
  /** By the monotonic clock. */
  renewAt: number;
  /** A renewal was not answered, so only another renewal shows which token is current. */
  isUnanswered: boolean;
  isEnding: boolean;
}

interface LeaseKeeperDeps extends LoopDeps {
  readonly live: { readonly work: Pick<WorkQueue, 'renew'> };
  readonly leaseMs: number;
}

export class LeaseKeeper extends LoopService<LeaseKeeperDeps> {
  readonly name = 'lease-keeper';
  readonly #held = new Map<WorkItem, Held>();
  #renewing: Promise<void> = Promise.resolve();

  /** Call this when the item's call has ended, within half of its lease. The first renewal comes a quarter of a lease later. */
  hold(taskType: TaskType, item: WorkItem): void {
    const renewAt = this.deps.clock.monotonic() + this.deps.leaseMs / 4;
    this.#held.set(item, { taskType, item, renewAt, isUnanswered: false, isEnding: false });
    if (this.#held.size === 1) void this.start();
  }

  async runOnce(): Promise<number> {
    const now = this.deps.clock.monotonic();
    const due = [...this.#held.values()].filter((held) => !held.isEnding && held.renewAt <= now);
    this.#renewing = this.#renew(due);
    await this.#renewing;
    return this.deps.leaseMs / 8;
  }

  /** Ends the renewal of these leases. @returns the items to settle. May be repeated until they are settled. */
  async end(items: readonly WorkItem[]): Promise<readonly WorkItem[]> {
    const ending = items.flatMap((item) => this.#held.get(item) ?? []);
    for (const held of ending) held.isEnding = true;
    await this.#renewing.catch(() => {});
    await this.#renew(ending.filter((held) => held.isUnanswered));
    return items.map((item) => this.#held.get(item)?.item ?? item);
  }

  settled(items: readonly WorkItem[]): void {
    for (const item of items) this.#held.delete(item);
  }

  async #renew(held: readonly Held[]): Promise<void> {
    const { live, leaseMs } = this.deps;
    for (const [taskType, group] of groupBy(held, (one) => one.taskType)) {
      for (const one of group) one.isUnanswered = true;
      const renewed = await live.work.renew(
        taskType,
        group.map(({ item }) => item),
        leaseMs,
      );
      for (const [i, one] of group.entries()) {
        one.item = renewed[i] ?? one.item;
        one.renewAt += leaseMs;
        one.isUnanswered = false;
      }
    }
  }
}
