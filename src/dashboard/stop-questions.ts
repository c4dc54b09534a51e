// The questions for the reason of a change in the view of stops, which come before its plan is shown. Used by model.ts.
import type { PlannedChange } from '../changes/planned-change.ts';
import { type Decision, heldStopsChange, stopModeChange } from '../changes/stops.ts';
import { roundedMb } from '../domain/numbers.ts';
import { isReason, REASON_CHARS, REASON_RULE } from '../domain/stops/stop.ts';
import type { OverviewBody } from '../resources/stats.ts';
import type { StopBody } from '../resources/stops.ts';
import { exactText } from '../terminal/style.ts';
import type { ListedStops, Question } from './state.ts';

/** @param overview null: unknown so far. */
export function modeQuestion(overview: OverviewBody | null): Question | string {
  const from = overview?.stops.mode ?? null;
  if (overview === null || from === null) return 'the mode of stops is not known now';
  const to = from === 'observe' ? 'enforce' : 'observe';
  const jump = overview.health_reasons.find(({ code }) => code === 'usage_jump');
  return reasonQuestion(`set mode ${to}`, (reason) =>
    stopModeChange([from, to], jump?.text ?? null, null, reason),
  );
}

export function decisionQuestion(decision: Decision): (stop: StopBody) => Question | string {
  return (stop) => {
    const { card_id, state } = stop;
    if (state !== 'held' && !(decision === 'dismiss' && state === 'observed'))
      return `the stop of card ${card_id} is ${state}, not held`;
    return reasonQuestion(`${decision} card ${card_id}`, (reason) => {
      const change = heldStopsChange(decision, [card_id], reason);
      return { ...change, effects: [usageOf(stop), ...change.effects] };
    });
  };
}

/** @param stops the listed ones; null: unknown so far. */
export function releaseAllQuestion(stops: ListedStops | null): Question | string {
  const held = stops?.state === 'held' ? stops.total : 0;
  if (held === 0) return 'no stop is held';
  return reasonQuestion(`release all ${held} held`, (reason) =>
    heldStopsChange('release', { all: held }, reason),
  );
}

function reasonQuestion(what: string, changeFor: (reason: string) => PlannedChange): Question {
  return {
    text: `Reason to ${what}:`,
    length: REASON_CHARS.max,
    answer: (typed) => {
      if (!isReason(typed)) return { problem: `a reason ${REASON_RULE}` };
      const change = changeFor(typed);
      return { ...change, effects: [...change.effects, `Reason: ${typed}`] };
    },
  };
}

function usageOf({ card_id, month, used_mb, allowance_mb }: StopBody): string {
  const allowance = allowance_mb === null ? 'without a limit' : `of ${exactText(roundedMb(allowance_mb))} MB`;
  return `Card ${card_id} has used ${exactText(roundedMb(used_mb))} MB ${allowance} in ${month}.`;
}
