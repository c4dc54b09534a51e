// The stops of the fleet in one line, for `stats` and the dashboard:
//   enforce, 12 of 100 this hour, 340 of 500 today, 28 held
import type { StopMode } from '../../domain/stops/stop.ts';

/** `stops` of polling-stats; null: not known, or a budget without a limit. */
interface Stops {
  readonly mode: StopMode | null;
  readonly done_hour: number | null;
  readonly done_day: number | null;
  readonly budget_hour: number | null;
  readonly budget_day: number | null;
  readonly held: number | null;
  readonly observed: number | null;
  readonly resumed_day: number | null;
}

interface StopsLine {
  readonly text: string;
  /** An operator should look at it: stops wait, or none is made. */
  readonly isUrgent: boolean;
}

/** @param number how a count is shown. */
export function stopsLine(stops: Stops, number: (count: number) => string): StopsLine {
  const { mode, held, observed, resumed_day: resumed } = stops;
  if (mode === null) return { text: 'not known', isUrgent: false };
  const some = (count: number | null, word: string) => (count ? [`${number(count)} ${word}`] : []);
  const made = (done: number | null, budget: number | null, when: string) =>
    `${number(done ?? 0)}${budget === null ? '' : ` of ${number(budget)}`} ${when}`;
  const parts =
    mode === 'observe'
      ? ['no card is stopped', `${number(observed ?? 0)} would have been`]
      : [
          made(stops.done_hour, stops.budget_hour, 'this hour'),
          made(stops.done_day, stops.budget_day, 'today'),
        ];
  const text = [mode, ...parts, ...some(held, 'held'), ...some(resumed, 'resumed today')].join(', ');
  return { text, isUrgent: mode === 'observe' || (held ?? 0) > 0 };
}
