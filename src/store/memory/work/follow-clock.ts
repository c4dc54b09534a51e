// Adjusts the work of the embedded live store when its clock is set back. The rules are those of
// src/store/redis/work/work-follow-clock.lua, which explains them. Used by work-queue.ts.
import { CLOCK_STEP_MS } from '../../ports/live/work-queue.ts';
import type { ScoreSet } from './score-set.ts';
import type { WorkState } from './work-state.ts';

/** @returns by how many milliseconds the clock was set back; 0 if it was not. */
export function followClock(state: WorkState, leaseMs: number, nowMs: number): number {
  const { clockStep } = state;
  if (clockStep !== null && Math.abs(nowMs - clockStep.noticedMs) >= leaseMs) {
    state.clockStep = null;
    if (clockStep.beforeMs > nowMs + leaseMs) takeBackFrom(state, clockStep.beforeMs, nowMs);
  }
  const seenMs = state.seenMs ?? nowMs;
  const backMs = seenMs - nowMs;
  state.seenMs = nowMs;
  if (backMs < CLOCK_STEP_MS) return 0;
  state.queue.setBack(backMs, nowMs);
  state.retry.setBack(backMs);
  for (const pause of state.pausesInForce(nowMs)) {
    const { source, sinceMs, untilMs } = pause;
    state.pauses.set(source, { ...pause, sinceMs: sinceMs - backMs, untilMs: untilMs - backMs });
  }
  [state.otherAtMs, state.trickledAtMs, state.retryCredit] = [0, 0, null];
  state.clockStep = { beforeMs: seenMs, noticedMs: nowMs };
  return backMs;
}

function takeBackFrom(state: WorkState, afterMs: number, nowMs: number): void {
  removeFrom(state.slots, afterMs);
  removeFrom(state.retrySlots, afterMs);
  state.manual.prepend(removeFrom(state.manualLeases, afterMs));
  state.queue.takeBackFrom(afterMs, nowMs);
}

/** @returns the removed members, the lowest score first. */
function removeFrom(set: ScoreSet<string>, afterMs: number): string[] {
  const found = [...set.entries()].filter(({ score }) => score > afterMs).sort((a, b) => a.score - b.score);
  for (const { member } of found) set.delete(member);
  return found.map(({ member }) => member);
}
