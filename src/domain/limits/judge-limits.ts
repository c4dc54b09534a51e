// The rules of flow control together: the strain is judged for all task types, then each limit on its own. Used by the leader
// (engine/limits/concurrency-controller.ts) once a second. Pure: time is passed in.
import type { TaskType } from '../task-type.ts';
import type { EffectiveLimit } from './effective-limit.ts';
import type { FleetTick, Situation } from './fleet-tick.ts';
import type { StrainTrials } from './strain-trials.ts';

interface Limit extends Pick<Situation, 'configured' | 'inForce'> {
  readonly taskType: TaskType;
  readonly limit: EffectiveLimit;
  /** The second that it is judged by; null: not counted. It is still told how a trial ended that it took part in. */
  readonly tick: FleetTick | null;
}

interface JudgedLimit extends Limit {
  readonly tick: FleetTick;
}

/** @param onChange gets why a limit changed. */
export function judgeLimits(
  strain: StrainTrials,
  limits: readonly Limit[],
  nowMs: number,
  onChange: (taskType: TaskType, reason: string) => void,
): void {
  const judged = limits.filter((one): one is JudgedLimit => one.tick !== null);
  for (const verdict of strain.observe(judged, nowMs)) {
    limits.find(({ taskType }) => taskType === verdict.taskType)?.limit.obey(verdict, nowMs);
    onChange(verdict.taskType, verdict.reason);
  }
  if (strain.isTrying) return;
  const usedUp = judged.filter(({ tick }) => tick.limitReached);
  const sum = usedUp.reduce((total, { inForce }) => total + inForce, 0);
  const change = (one: JudgedLimit, make: (situation: Situation) => string | null) => {
    const { taskType, configured, inForce } = one;
    const fairLimit = usedUp.length === 0 ? inForce : sum / usedUp.length;
    const strained = strain.isStrained(taskType, nowMs);
    const reason = make({ configured, inForce, nowMs, fairLimit, strained });
    if (reason !== null) onChange(taskType, reason);
  };
  for (const one of judged) change(one, (situation) => one.limit.observe(one.tick, situation));
  if (!judged.some(({ limit }) => limit.wantsTrial)) return;
  for (const one of judged) change(one, (situation) => one.limit.joinTrial(situation));
}
