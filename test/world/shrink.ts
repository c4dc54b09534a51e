// Makes a night that fails as small as it goes: its shortest beginning, and the fewest faults, by halving. A smaller night is taken only if
// the same invariant fails in it.
import { type Night, planOf, type Verdict } from './night.ts';

export interface Shrunk {
  readonly verdict: Verdict;
  readonly tries: number;
}

const MOST_TRIES = 40;

/** @param until real time by which it takes what it has, by `now` */
export async function shrink(
  failed: Verdict,
  live: (night: Night) => Promise<Verdict>,
  isOver: () => boolean,
): Promise<Shrunk> {
  const broken = invariantOf(failed);
  let best = failed;
  let tries = 0;
  const fails = async (night: Night): Promise<boolean> => {
    if (tries >= MOST_TRIES || isOver()) return false;
    tries += 1;
    const verdict = await live(night);
    if (invariantOf(verdict) !== broken) return false;
    best = verdict;
    return true;
  };
  const plan = planOf(failed.night);
  const all = plan.map(({ number }) => number);
  // Faults after the failure had no part in it.
  let kept = failed.night.faults ?? all.slice(0, plan.filter(({ at }) => at <= failed.virtualMs).length);
  await fails({ ...failed.night, faults: kept });
  for (let size = Math.ceil(kept.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let from = 0; from < kept.length; ) {
      const fewer = [...kept.slice(0, from), ...kept.slice(from + size)];
      if (await fails({ ...failed.night, faults: fewer })) kept = fewer;
      else from += size;
    }
  }
  return { verdict: best, tries };
}

export function invariantOf({ failures }: Verdict): string | null {
  return failures[0]?.split(':')[0] ?? null;
}
