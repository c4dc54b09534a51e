// Keeps a reason for some seconds after it was shown, so that people can read the first line of every report. Used by stats.ts,
// for each task type and for the fleet.
import type { HealthReason } from './reason.ts';

const LEAST_MS = 10_000;

export class KeptReasons {
  readonly #shown = new Map<string, { readonly reason: HealthReason; readonly sinceMs: number }>();

  /** @returns the current reasons, and those first shown less than ten seconds ago that have ended. */
  with(reasons: readonly HealthReason[], nowMs: number): readonly HealthReason[] {
    const present = new Map(reasons.map((reason) => [nameOf(reason), reason]));
    const kept: HealthReason[] = [];
    for (const [name, { reason, sinceMs }] of this.#shown) {
      if (present.has(name)) continue;
      // A clock that was set back does not extend a reason.
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
