// Watches the maintenance windows in the record store, so that workers leave the cards of a carrier in maintenance to their rings: such a
// card leaves the queue without a call, as under a disabled config, and is polled at its next turn after the end. So the way back is as even
// as the rings are. A window of the whole fleet is a pause, which needs no watch. Keeps the last known windows while the store is unavailable.
import { isInForce, type MaintenanceWindow, matcherIn } from '../../domain/schedule/maintenance.ts';
import type { ConfigMatcher } from '../../domain/schedule/polling-config.ts';
import { type LoopDeps, LoopService } from '../../platform/loop.ts';
import type { MaintenanceRecords } from '../../store/ports/records/maintenance-records.ts';

const LOOK_EVERY_MS = 1_000;

export class MaintenanceWatch extends LoopService<
  LoopDeps & {
    readonly records: { readonly maintenance: Pick<MaintenanceRecords, 'open'> };
    /** Now, epoch milliseconds, by the fleet's clock. */
    readonly fleetNow: () => number;
  }
> {
  readonly name = 'maintenance-watch';
  #ofCarriers: readonly MaintenanceWindow[] = [];
  #made: { readonly from: ConfigMatcher; readonly ids: string; readonly matcher: ConfigMatcher } | null =
    null;

  async runOnce(): Promise<number> {
    const windows = await this.deps.records.maintenance.open();
    this.#ofCarriers = windows.filter(({ carrierId }) => carrierId !== null);
    return LOOK_EVERY_MS;
  }

  /** Reads once before it returns: a start in a window polls no card of the carrier. */
  override async start(): Promise<void> {
    await this.runOnce();
    await super.start();
  }

  /** @returns what polls are chosen by now: the same matcher while no carrier is in maintenance. */
  over(matcher: ConfigMatcher): ConfigMatcher {
    if (this.#ofCarriers.length === 0) return matcher;
    const nowMs = this.deps.fleetNow();
    const present = this.#ofCarriers.filter((one) => isInForce(one, nowMs));
    if (present.length === 0) return matcher;
    const ids = present.map(({ id }) => id).join(' ');
    if (this.#made?.from !== matcher || this.#made.ids !== ids)
      this.#made = { from: matcher, ids, matcher: matcherIn(present, matcher) };
    return this.#made.matcher;
  }
}
