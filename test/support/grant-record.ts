// Who was granted how many calls, and between which two moments. For tests of the pace: a grant was made at some time
// between the request and its answer, so a window that holds both holds the grant.
import { expect } from 'vitest';
import type { PaceBucket } from '../../src/domain/limits/rate-limit.ts';

interface Grant {
  readonly who: string;
  readonly calls: number;
  readonly from: number;
  readonly to: number;
}

export class GrantRecord {
  readonly #grants: Grant[] = [];
  readonly #startedAt = performance.now();

  add(who: string, calls: number, from: number, to: number): void {
    if (calls > 0) this.#grants.push({ who, calls, from, to });
  }

  get total(): number {
    return this.#grants.reduce((sum, { calls }) => sum + calls, 0);
  }

  /** From the start of the record to the last grant. */
  get spanMs(): number {
    return Math.max(0, ...this.#grants.map(({ to }) => to)) - this.#startedAt;
  }

  of(who: string): number {
    return this.#grants.filter((grant) => grant.who === who).reduce((sum, { calls }) => sum + calls, 0);
  }

  /** No window holds more grants than the bucket may make in it. @param extra grants besides, for each window */
  expectWithin({ perMs, capacity }: PaceBucket, extra: (from: number, to: number) => number = () => 0): void {
    const ordered = [...this.#grants].sort((a, b) => a.to - b.to);
    for (const { from } of this.#grants) {
      let calls = 0;
      for (const grant of ordered) {
        if (grant.from < from) continue;
        calls += grant.calls;
        // Redis counts whole milliseconds.
        const most = capacity + perMs * (grant.to - from + 2) + extra(from, grant.to);
        if (calls > most) expect.fail(`${calls} grants within ${grant.to - from} ms: at most ${most}`);
      }
    }
  }
}
