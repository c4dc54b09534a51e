// How many polls a second the rate limits of the gateway leave to a task type. Used by stats.ts and by the doctor. Pure.
//
// Types that want less than their equal share leave the rest to the others, as the live store grants calls.
import { rounded } from '../../domain/numbers.ts';
import { TASK_TYPES, TASKS, type TaskType } from '../../domain/task-type.ts';
import type { PaceLimit, PaceState } from '../../store/ports/live/pace.ts';
import { countWords, spanWords } from '../span-words.ts';

interface PaceShare {
  /** Polls a second at most. */
  readonly perSecond: number;
  /** What the limit allows in a second for everything that it counts. */
  readonly ofPerSecond: number;
}

/** @returns the share by the limit that leaves least; null when no limit counts the polls of this type. */
export function paceShareOf(
  taskType: TaskType,
  limits: readonly PaceLimit[],
  demandPerSecond: Readonly<Record<TaskType, number>>,
): PaceShare | null {
  const shares = limits.flatMap(({ interfaces, perSecond }) => {
    const counted = TASK_TYPES.filter((one) => interfaces?.includes(TASKS[one].interface) !== false);
    if (!counted.includes(taskType)) return [];
    const others = counted.filter((one) => one !== taskType).map((one) => demandPerSecond[one]);
    return { perSecond: levelOf(perSecond, others), ofPerSecond: perSecond };
  });
  return shares.reduce<PaceShare | null>(
    (least, share) => (least === null || share.perSecond < least.perSecond ? share : least),
    null,
  );
}

/** What decides whether the rate limits of a task type are enough. */
export interface PaceNeed {
  /** Polls a second that the enabled configs need. */
  readonly demandPerSecond: number;
  /** null without a limit. */
  readonly paceShare: PaceShare | null;
  /** Configured interval of the ring that is furthest behind; null without an enabled ring. */
  readonly intervalSeconds: number | null;
}

/** @returns null while the rate limits allow what the schedule needs. */
export function paceShortText({ demandPerSecond, paceShare, intervalSeconds }: PaceNeed): string | null {
  if (paceShare === null || intervalSeconds === null || demandPerSecond <= paceShare.perSecond) return null;
  return `the rate limits are short: ${paceShortWords(paceShare, demandPerSecond, intervalSeconds)}`;
}

/** `50 calls a second allow 10,000,000 cards every 14 h; configured: 30 min`. */
export function paceShortWords(share: PaceShare, demandPerSecond: number, intervalSeconds: number): string {
  const { perSecond, ofPerSecond } = share;
  const part = perSecond < ofPerSecond ? ` (of ${rounded(ofPerSecond)})` : '';
  const cards = countWords(Math.round(demandPerSecond * intervalSeconds), 'card');
  const every = spanWords((intervalSeconds * demandPerSecond) / perSecond);
  return `${rounded(perSecond)} calls a second${part} allow ${cards} every ${every}; configured: ${spanWords(intervalSeconds)}`;
}

/** `calls wait for the rate limit of 50 a second`; null while polls of the type wait for none. */
export function awaitedWords(states: readonly PaceState[], taskType: TaskType): string | null {
  const awaited = states
    .filter(({ waiting }) => waiting.includes(taskType))
    .map(({ perSecond }) => perSecond);
  if (awaited.length === 0) return null;
  return `calls wait for the rate limit of ${rounded(Math.min(...awaited))} a second`;
}

/** What one more participant without end gets of `total` next to the others. */
function levelOf(total: number, others: readonly number[]): number {
  let left = total;
  let sharing = others.length + 1;
  for (const demand of [...others].sort((a, b) => a - b)) {
    if (demand > left / sharing) break;
    left -= demand;
    sharing -= 1;
  }
  return left / sharing;
}
