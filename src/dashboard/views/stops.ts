// The view of stops: the mode, the budget and what waits, each with the command that shows or changes it. It changes nothing
// itself.
import type { OverviewBody } from '../../api/client/client-bodies.ts';
import { gauge } from '../charts.ts';
import { cards, count } from '../format.ts';
import { EMPTY, type Line, plain, type Span, span } from '../line.ts';
import { dataTimeMs, type State } from '../state.ts';
import { healthLines } from './health.ts';
import { fact, missing, type Room, stacked } from './layout.ts';

type Stops = OverviewBody['stops'];

const GAUGE_COLUMNS = 20;
const REASON_ROWS = 6;
/** The codes of health reasons that stops have. */
const CODES: readonly string[] = ['usage_jump', 'stops_held', 'stop_unconfirmed'];

export function stopsLines(state: State, { columns, rows }: Room): Line[] {
  const overview = state.data.overview.body;
  if (overview === null) return [missing('stops', state.data.overview.problem)];
  const { stops, health_reasons } = overview;
  if (stops.mode === null) return [plain('The database does not answer: nothing is known of stops.', 'warn')];
  const reasons = health_reasons.filter(({ code }) => CODES.includes(code));
  const health = healthLines(
    { health: reasons[0]?.severity ?? 'normal', health_reasons: reasons },
    { columns, rows: REASON_ROWS, nowMs: dataTimeMs(state), calm: 'no stop waits' },
  );
  return stacked([health, modeLines(stops), waitingLines(stops)], rows);
}

function modeLines(stops: Stops): Line[] {
  const { mode, done_hour, done_day, budget_hour, budget_day } = stops;
  const [meaning, command] =
    mode === 'observe'
      ? [span('▲ observe  no card is stopped, it is recorded which would be', 'warn'), 'enforce']
      : [span('● enforce  cards over their package are stopped', 'good'), 'observe'];
  return [
    fact('mode', meaning),
    commandLine(`cardpoll stops mode ${command} --reason ...`),
    fact('this hour', ...budgetSpans(done_hour ?? 0, budget_hour)),
    fact('today', ...budgetSpans(done_day ?? 0, budget_day)),
  ];
}

function budgetSpans(done: number, budget: number | null): Span[] {
  if (budget === null) return [span(`${cards(done)} stopped, no limit`)];
  const isUsedUp = done >= budget;
  const bar = gauge(budget === 0 ? 1 : done / budget, GAUGE_COLUMNS);
  return [
    span(`${bar} `, isUsedUp ? 'warn' : 'accent'),
    span(`${count(done)} of ${count(budget)}${isUsedUp ? ', used up: further stops are held' : ''}`),
  ];
}

function waitingLines({ held, observed, unconfirmed, resumed_day }: Stops): Line[] {
  return [
    fact('held', span(`${count(held)} wait until an operator decides`, held ? 'warn' : undefined)),
    ...(held ? [commandLine('cardpoll stops list --state held')] : []),
    fact('observed', span(`${count(observed)} would have been made`)),
    ...(observed ? [commandLine('cardpoll stops list --state observed')] : []),
    fact(
      'no effect',
      span(`${count(unconfirmed)} acknowledged, card still running`, unconfirmed ? 'warn' : undefined),
    ),
    fact('resumed', span(`${count(resumed_day)} today`)),
    EMPTY,
    [span('The latest stops: '), span('cardpoll stops', 'accent')],
  ];
}

function commandLine(command: string): Line {
  return fact('', span('-> ', 'dim'), span(command, 'accent'));
}
