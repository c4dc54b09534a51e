// Keeps a reason for some seconds once it was shown, so that the first line of every surface is still enough to be read. Used by
// stats.ts, for each task type and for the fleet.
import type { HealthReason } from './reason.ts';

const LEAST_MS = 10_000;

export class KeptReasons {
  readonly #shown = new Map<string, { readonly reason: HealthReason; readonly sinceMs: number }>();

  /** @returns the reasons, and those that ended less than ten seconds after they began to be shown. */
  with(reasons: readonly HealthReason[], nowMs: number): readonly HealthReason[] {
    const present = new Map(reasons.map((reason) => [nameOf(reason), reason]));
    const kept: HealthReason[] = [];
    for (const [name, { reason, sinceMs }] of this.#shown) {
      if (present.has(name)) continue;
      // A clock that was set back does not keep a reason longer.
      if (nowMs - sinceMs < LEAST_MS && nowMs >= sinceMs) kept.push(reason);
      else this.#shown.delete(name);
    }
    for (const [name, reason] of present) {
      this.#shown.set(name, { reason, sinceMs: this.#shown.get(name)?.sinceMs ?? nowMs });
    }
    return kept.length === 0 ? reasons : [...reasons, ...kept];
  }
}

function nameOf({ taskType, code }: HealthReason): string {
  return `${taskType} ${code}`;
}
