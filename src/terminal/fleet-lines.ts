// Facts about the fleet in words, which `stats` and the dashboard show in the same order, with what is wrong first: gateway,
// capacity by task type (what is demanded, how much of it is possible, and when a backlog is gone), pauses, stops, initialisation,
// instances. Shows what the API says.
import { monthEndWords } from '../domain/cards/month-end.ts';
import { instanceLabel } from '../domain/instance-id.ts';
import { areOnePause } from '../domain/limits/operator-limits.ts';
import { scopeWords } from '../domain/schedule/maintenance.ts';
import { countedText, observedWords, STOPS_COUNTED } from '../domain/stops/stop.ts';
import { TASK_TYPES } from '../domain/task-type.ts';
import { cardCount, countWords } from '../domain/words.ts';
import type { OverviewBody, TaskBody } from '../resources/stats.ts';
import { type Cell, digitsOf, type Style, signed } from './style.ts';

/** A named fact. */
export interface Fact {
  readonly name: string;
  /** A state by its sign, then what there is to say; or that alone. */
  readonly value: readonly [Cell] | readonly [Cell, Cell];
  /** Nothing is wrong: it may be left out where there is little room. */
  readonly isCalm: boolean;
}

/** How numbers look in facts. */
export function numbersOf(style: Style): Numbers {
  return {
    rate: (value) => style.number(value, digitsOf(value)).text,
    seconds: (value) => style.seconds(value).text,
  };
}

/** @param capacity as much of it as there is room for. @param isShort there is little room. */
export function fleetFacts(overview: OverviewBody, style: Style, capacity: string, isShort = false): Fact[] {
  return troubleFirst([
    ...gatewayFacts(overview, style),
    capacityFact(overview, style, capacity),
    ...pauseFacts(overview, style),
    ...maintenanceFacts(overview, style),
    stopsFact(overview, style),
    ...monthEndFacts(overview),
    onTimeFact(overview, style, isShort),
    initFact(overview, style),
    instanceFact(overview, style),
  ]);
}

export function troubleFirst<F extends { readonly isCalm: boolean }>(facts: readonly F[]): F[] {
  return [...facts.filter(({ isCalm }) => !isCalm), ...facts.filter(({ isCalm }) => isCalm)];
}

function calm(name: string, ...value: Fact['value']): Fact {
  return { name, value, isCalm: true };
}

function urgent(name: string, ...value: Fact['value']): Fact {
  return { name, value, isCalm: false };
}

function capacityFact({ capacity: { advice, held_by } }: OverviewBody, style: Style, text: string): Fact {
  if (advice !== null) return urgent('capacity', style.text(text, 'red'));
  return held_by === null
    ? calm('capacity', style.text(text))
    : urgent('capacity', style.text(text, 'yellow'));
}

function gatewayFacts({ gateway, pauses, tasks }: OverviewBody, style: Style): Fact[] {
  const held = gateway.interfaces.filter(({ breaker }) => breaker !== 'closed');
  if (held.length === 0) {
    // Nothing is known of a gateway that has not answered: it was not called, or takes long.
    const { avg_duration_ms_10s: ms } = gateway;
    const isPaused = tasks.every((task) => pauses.some((pause) => pause.task_type === task.task_type));
    const none = isPaused ? 'not called in the pause' : 'no answer in the last seconds';
    if (ms === null) return [calm('gateway', { text: none })];
    const words = gatewayWords(gateway, style.number(Math.round(ms)).text);
    if (gateway.slow) return [urgent('gateway', signed('warning', words))];
    return [calm('gateway', signed('good'), { text: ` ${words}` })];
  }
  return held.map(({ interface: name, breaker, since, reason, next_probe_at, instances }) => {
    const how = [
      ...(since === null ? [] : [`since ${style.time(since).text.replace(' ago', '')}`]),
      ...(next_probe_at === null
        ? []
        : [`next probe ${style.time(next_probe_at).text.replace(/.* ago$/, 'now')}`]),
      countWords(instances, 'instance'),
      ...(reason === null ? [] : [reason]),
    ];
    const state =
      breaker === 'open' ? signed('bad', `${name} down`) : signed('warning', `${name} recovering`);
    return urgent('gateway', state, style.text(`  ${how.join(', ')}`));
  });
}

function pauseFacts({ pauses, generated_at }: OverviewBody, style: Style): Fact[] {
  const [first] = pauses;
  if (first === undefined) return [calm('pauses', { text: 'none' })];
  const isOne = areOnePause(pauses.map((one) => ({ ...one, untilMs: Date.parse(one.until) })));
  const names =
    pauses.length === TASK_TYPES.length ? 'all task types' : pauses.map((one) => one.task_type).join(', ');
  const shown = isOne ? [{ ...first, task_type: names }] : pauses;
  return shown.map(({ task_type, until, by, source, reason }) => {
    const left = Math.max(0, Math.ceil((Date.parse(until) - Date.parse(generated_at)) / 1000));
    const isOperators = source !== 'gateway';
    const sign = signed('paused', `${task_type} ${style.seconds(left).text} left`);
    const who = isOperators ? by : 'the gateway';
    return urgent(
      'pauses',
      isOperators ? sign : { ...sign, tone: 'red' },
      style.text(`  by ${who}${reason === '' ? '' : `: ${reason}`}`),
    );
  });
}

/** What is planned for the next hour, and carriers in maintenance; a window of the fleet that is in force is a pause. */
function maintenanceFacts({ maintenance, generated_at }: OverviewBody, style: Style): Fact[] {
  // An older daemon does not send it.
  const shown = (maintenance ?? []).filter(
    ({ state, carrier_id }) => state === 'planned' || carrier_id !== null,
  );
  return shown.map(({ id, state, task_type, carrier_id, starts_at, ends_at, reason, by }) => {
    const seconds = (from: string, to: string) =>
      style.seconds(Math.max(0, Math.ceil((Date.parse(to) - Date.parse(from)) / 1000))).text;
    const when =
      state === 'planned'
        ? `in ${seconds(generated_at, starts_at)} for ${seconds(starts_at, ends_at)}`
        : `${seconds(generated_at, ends_at)} left`;
    const what = scopeWords({ taskType: task_type, carrierId: carrier_id });
    return urgent(
      'window',
      signed('paused', `${what} ${when}`),
      style.text(`  maintenance ${id} by ${by}: ${reason}`),
    );
  });
}

function stopsFact({ stops }: OverviewBody, style: Style): Fact {
  const { text, isUrgent } = stopsLine(stops, (value) => style.number(value).text);
  return isUrgent ? urgent('stops', { text, tone: 'yellow' }) : calm('stops', { text });
}

function monthEndFacts(overview: OverviewBody): Fact[] {
  const text = monthEndText(overview);
  return text === null ? [] : [urgent('month ends', { text })];
}

/** @returns null: the month does not end within three days. */
export function monthEndText({ month_end: end, generated_at }: OverviewBody): string | null {
  // An older daemon does not send it.
  if (!end) return null;
  const { time_zone: timeZone, turns_at, stopped, resumes_at_start } = end;
  const seconds = Math.ceil((Date.parse(turns_at) - Date.parse(generated_at)) / 1000);
  return monthEndWords({ seconds, timeZone }, stopped, resumes_at_start);
}

/** Fewer polls on time are worth a look. */
const ON_TIME_LEAST = 95;
/** An hour but for one slot of ten minutes, in which polls are counted. */
const ALMOST_AN_HOUR_MS = 50 * 60_000;

/** @param isShort where the name of the fact says the rest, and there is little room. */
function onTimeFact(
  { on_time: onTime, generated_at: generatedAt }: OverviewBody,
  style: Style,
  isShort: boolean,
): Fact {
  // An older daemon does not send it.
  if (!onTime) return calm('on time', { text: '-' });
  const { percent, since, worst } = onTime;
  const measuredMs = Date.parse(generatedAt) - Date.parse(since);
  const when = measuredMs < ALMOST_AN_HOUR_MS ? `since ${style.clockTime(since)}` : 'of the last hour';
  const share = `${percent} % of the polls ${when}`;
  const least = worst === null ? '' : `; worst carrier ${worst.carrier_id}: ${worst.percent} %`;
  const text = `${share}${isShort ? '' : ' were on time'}${least}`;
  return percent < ON_TIME_LEAST ? urgent('on time', { text, tone: 'yellow' }) : calm('on time', { text });
}

function initFact({ init, cards_total: cards }: OverviewBody, style: Style): Fact {
  const { status, percent, loaded, total, eta_seconds: eta, finished_at } = init;
  if (status === 'completed') {
    const at = finished_at === null ? '' : ` ${style.time(finished_at).text}`;
    // Cards that are imported later are scheduled by their import.
    const none = cards > 0 ? '' : ', before any card was imported';
    return calm('init', { text: `completed${at}${total === 0 ? none : `, ${cardCount(total)}`}` });
  }
  const left = eta === null ? '' : `, ${style.seconds(eta).text} left`;
  const [done, all] = [loaded, total].map((value) => style.number(value).text);
  const how: Cell = { text: `  ${percent} %, ${done} of ${all} cards${left}` };
  return urgent('init', status === 'stuck' ? signed('bad', status) : { text: status }, how);
}

/** More are counted. */
const INSTANCES_NAMED = 4;

function instanceFact({ workers }: OverviewBody, style: Style): Fact {
  if (workers.length === 0) return urgent('instances', signed('bad', 'none is alive'));
  const number = (value: number) => style.number(value).text;
  const each = workers.slice(0, INSTANCES_NAMED).map(({ worker_id: id }) => instanceLabel(id));
  const more = workers.length - each.length;
  const all = `${each.join(', ')}${more > 0 ? `, ${number(more)} more` : ''}`;
  const named = style.text(`${number(workers.length)}  ${all}`);
  const versions = [...new Set(workers.map(({ version }) => version))];
  if (versions.length <= 1) return calm('instances', named);
  return urgent('instances', signed('warning', `versions ${versions.join(', ')}`), {
    text: `  ${named.text}`,
  });
}

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
  if (held_by !== null) return `backlog waits: ${held_by}`;
  return advice === null ? 'backlog: not known yet' : `backlog grows at this rate: ${advice}`;
}

/** `up, 24 ms, 100 % ok`; for a gateway none of whose interfaces is throttled. */
function gatewayWords({ success_rate_10s: success, slow }: OverviewBody['gateway'], ms: string): string {
  const ok = success === null ? '' : `, ${Math.floor(success)} % ok`;
  return `${slow ? 'slow' : 'up'}, ${ms} ms${ok}`;
}

/**
 * `enforce, 12 of 100 in 1 h, 340 of 500 in 24 h, 28 held, 3 released`
 * @param number how a count is shown. @returns isUrgent: an operator should look at it, as stops wait or none is made.
 */
function stopsLine(stops: OverviewBody['stops'], number: (count: number) => string) {
  const { mode, held, observed, released, resumed_day: resumed } = stops;
  if (mode === null) return { text: 'not known', isUrgent: false };
  const counted = (count: number) => countedText(count, STOPS_COUNTED, number);
  const some = (count: number | null, word: string) => (count ? [`${counted(count)} ${word}`] : []);
  const made = (done: number | null, budget: number | null, when: string) =>
    `${number(done ?? 0)}${budget === null ? '' : ` of ${number(budget)}`} ${when}`;
  const parts =
    mode === 'observe'
      ? [observedWords(counted(observed ?? 0))]
      : [
          made(stops.done_hour, stops.budget_hour, 'in 1 h'),
          made(stops.done_day, stops.budget_day, 'in 24 h'),
        ];
  const waiting = [...some(held, 'held'), ...some(released, 'released')];
  const text = [mode, ...parts, ...waiting, ...some(resumed, 'resumed in 24 h')].join(', ');
  return { text, isUrgent: mode === 'observe' || (held ?? 0) > 0 };
}

/** Where nothing is wrong. Cards that are not loaded yet are not polled. */
export function calmWords(
  count: number,
  { init, cards_total }: Pick<OverviewBody, 'init' | 'cards_total'>,
): string {
  if (cards_total === 0 && init.status === 'completed') return 'no cards yet: cardpoll cards import FILE';
  if (count === 0 && init.status === 'completed') return 'no polling config selects a card';
  const state =
    init.status === 'completed' ? 'everything as configured' : 'still being loaded: cardpoll init';
  return `${cardCount(count)}, ${state}`;
}
