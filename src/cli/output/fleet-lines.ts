// Facts about the fleet in words, for `stats` and the dashboard: its capacity by task type (what is demanded, how much of it
// is possible, and when a backlog is gone), and its stops. Shows what the API says.
import type { OverviewBody, TaskBody } from '../../api/client/client-bodies.ts';
import { countedText, STOPS_COUNTED } from '../../domain/stops/stop.ts';

interface Measured extends Pick<OverviewBody, 'capacity'> {
  readonly tasks: readonly Pick<TaskBody, 'task_type' | 'capacity'>[];
}

interface Numbers {
  readonly rate: (value: number) => string;
  readonly seconds: (value: number) => string;
}

/** @returns one fact for each task type that is asked for, and when the backlog is gone. */
export function capacityFacts({ tasks, capacity }: Measured, numbers: Numbers): string[] {
  const { demand_per_second: demand, held_by: heldBy } = capacity;
  // What holds every task type back is said once.
  if (heldBy !== null && tasks.every((task) => task.capacity.held_by === heldBy))
    return [`demand ${numbers.rate(demand)}/s`, backlogFact(capacity, numbers)];
  const asked = tasks.filter((task) => task.capacity.demand_per_second > 0);
  // What holds a task type back is said with it.
  const shown = heldBy === null ? capacity : { ...capacity, held_by: 'polling is held' };
  return [...asked.map((task) => typeFact(task, numbers)), backlogFact(shown, numbers)];
}

/** @returns the same in one line, of the fullest task type only. */
export function capacityLine({ tasks, capacity }: Measured, numbers: Numbers): string {
  const fullest = tasks.filter(({ task_type }) => task_type === capacity.headroom_task_type);
  const demand = `demand ${numbers.rate(capacity.demand_per_second)}/s`;
  const facts = fullest.length === 0 ? [demand] : fullest.map((task) => typeFact(task, numbers));
  return [...facts, backlogFact(capacity, numbers)].join(', ');
}

function typeFact({ task_type, capacity }: Measured['tasks'][number], { rate }: Numbers): string {
  const { demand_per_second, capacity_per_second, headroom_percent: free, held_by: heldBy } = capacity;
  const demand = `${rate(demand_per_second)}/s`;
  if (heldBy !== null) return `${task_type} ${demand}, held: ${heldBy}`;
  if (capacity_per_second === null || free === null) return `${task_type} ${demand}, capacity not known yet`;
  const by = capacity.bound_by === 'rate_limits' ? ' by the rate limits' : '';
  const possible = `${rate(capacity_per_second)}/s`;
  if (free < 0) return `${task_type} needs ${demand}, only ${possible} possible${by}`;
  return `${task_type} ${demand} of ${possible}${by} (${Math.floor(free)} % free)`;
}

function backlogFact({ drain_seconds, held_by, advice }: Measured['capacity'], { seconds }: Numbers): string {
  const then = advice === null ? '' : `, ${advice}`;
  if (drain_seconds === 0) return `no backlog${advice === null ? '' : ' yet'}${then}`;
  if (drain_seconds !== null) return `backlog gone in ${seconds(drain_seconds)}${then}`;
  if (held_by !== null) return `backlog gone: not while ${held_by}`;
  return advice === null ? 'backlog: not known yet' : `backlog gone: never${then}`;
}

/** `up, 24 ms, 100 % ok`; for a gateway none of whose interfaces is throttled. */
export function gatewayWords(
  { avg_duration_ms_10s: ms, success_rate_10s: success, slow }: OverviewBody['gateway'],
  number: (value: number) => string,
): string {
  if (ms === null) return 'no call in the last minutes';
  const ok = success === null ? '' : `, ${Math.floor(success)} % ok`;
  return `${slow ? 'slow' : 'up'}, ${number(Math.round(ms))} ms${ok}`;
}

/**
 * `enforce, 12 of 100 in 1 h, 340 of 500 in 24 h, 28 held`
 * @param number how a count is shown. @returns isUrgent: an operator should look at it, as stops wait or none is made.
 */
export function stopsLine(stops: OverviewBody['stops'], number: (count: number) => string) {
  const { mode, held, observed, resumed_day: resumed } = stops;
  if (mode === null) return { text: 'not known', isUrgent: false };
  const counted = (count: number) => countedText(count, STOPS_COUNTED, number);
  const some = (count: number | null, word: string) => (count ? [`${counted(count)} ${word}`] : []);
  const made = (done: number | null, budget: number | null, when: string) =>
    `${number(done ?? 0)}${budget === null ? '' : ` of ${number(budget)}`} ${when}`;
  const parts =
    mode === 'observe'
      ? ['no card is stopped', `${counted(observed ?? 0)} would have been`]
      : [
          made(stops.done_hour, stops.budget_hour, 'in 1 h'),
          made(stops.done_day, stops.budget_day, 'in 24 h'),
        ];
  const text = [mode, ...parts, ...some(held, 'held'), ...some(resumed, 'resumed in 24 h')].join(', ');
  return { text, isUrgent: mode === 'observe' || (held ?? 0) > 0 };
}
