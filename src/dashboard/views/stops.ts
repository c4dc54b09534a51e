// The view of stops: the mode with the command that changes it, the budget, the waiting stops, and a list of those that an
// operator decides about.
import {
  countedText,
  OVER_RUNNING_COUNTED,
  STOPS_COUNTED,
  UNCONFIRMED_STOPS_COUNTED,
} from '../../domain/stops/stop.ts';
import { cardCount } from '../../domain/words.ts';
import type { OverviewBody } from '../../resources/stats.ts';
import { signed } from '../../terminal/style.ts';
import { count, counted } from '../format.ts';
import { fact, gaugeSpans, hint, type Line, missing, plain, type Room, type Span, span } from '../layout.ts';
import type { Part, ViewProps } from '../part.tsx';
import { dataTimeMs, type State } from '../state.ts';
import { reasonLines } from './health.tsx';
import { listTable } from './lists.ts';

type Stops = OverviewBody['stops'];

const GAUGE_COLUMNS = 20;
/** Reasons of health get this share of the rows. */
const REASON_SHARE = 1 / 4;
/** Rows for the list: its title, its header, two stops. */
const LEAST_LIST_ROWS = 4;
/** Codes of the health reasons about stops. */
const CODES: readonly string[] = ['usage_jump', 'stops_held', 'stop_unconfirmed'];

export function stopsView({ state, columns, rows }: ViewProps): Part[] {
  const overview = state.data.overview.body;
  if (overview === null) return [[missing('stops', state.data.overview.problem)]];
  const { stops, health_reasons } = overview;
  if (stops.mode === null)
    return [[plain('The database does not answer: nothing is known of stops.', 'yellow')]];
  const room = { columns, rows, nowMs: dataTimeMs(state) };
  const reasons = health_reasons
    .filter(({ code }) => CODES.includes(code))
    .flatMap((reason) => reasonLines(reason, room))
    .slice(0, Math.max(2, Math.floor(rows * REASON_SHARE)));
  const facts = [
    ...(reasons.length === 0 ? [[signed('good'), span(' no stop waits')]] : reasons),
    ...modeLines(stops),
    ...waitingLines(stops),
  ].slice(0, Math.max(0, rows - LEAST_LIST_ROWS - 1));
  const listRows = Math.max(LEAST_LIST_ROWS, rows - facts.length - 1);
  return [facts, listLines(state, { columns, rows: listRows })];
}

function listLines(state: State, { columns, rows }: Room): Line[] {
  const { body, problem } = state.data.stops;
  if (body === null) return [missing('list', problem)];
  const { items, total, state: only } = body;
  if (items.length === 0) return [plain('No card was stopped yet.')];
  const kind = only === null ? 'stop' : `${only} stop`;
  const title = plain(`the latest ${count(items.length)} of ${counted(total, kind)}`, 'dim');
  return listTable(state, 'stops', { columns, rows }, title);
}

function modeLines(stops: Stops): Line[] {
  const { mode, done_hour, done_day, budget_hour, budget_day, fleet_cards } = stops;
  const [meaning, command] =
    mode === 'observe'
      ? [signed('warning', 'observe  no card is stopped, it is recorded which would be'), 'enforce']
      : [signed('good', 'enforce  cards over their package are stopped'), 'observe'];
  return [
    fact('mode', meaning),
    fact('', ...hint(`cardpoll stops mode ${command} --reason ...`)),
    fact('last hour', ...budgetSpans(done_hour ?? 0, budget_hour)),
    fact('last 24 h', ...budgetSpans(done_day ?? 0, budget_day)),
    ...(fleet_cards === null ? [] : [fact('of', span(cardCount(fleet_cards)))]),
  ];
}

function budgetSpans(done: number, budget: number | null): Span[] {
  if (budget === null) return [span(`${cardCount(done)} stopped, no limit`)];
  const isUsedUp = done >= budget;
  return [
    ...gaugeSpans(budget === 0 ? 1 : done / budget, GAUGE_COLUMNS, isUsedUp ? 'yellow' : 'accent'),
    span(` ${count(done)} of ${count(budget)}${isUsedUp ? ', used up: further stops are held' : ''}`),
  ];
}

function waitingLines({
  held,
  held_for_operator: doubtful,
  observed,
  released,
  unconfirmed,
  resumed_day,
  over_running: over,
  stopped_within: within,
}: Stops): Line[] {
  const counted = (number: number | null, most = STOPS_COUNTED) => countedText(number ?? 0, most, count);
  const wait = doubtful === 1 ? 'waits' : 'wait';
  const running = `${counted(unconfirmed, UNCONFIRMED_STOPS_COUNTED)} acknowledged, and the card still runs`;
  return [
    fact(
      'held',
      span(
        `${counted(held)}, ${counted(doubtful)} ${wait} until an operator decides`,
        held ? 'yellow' : undefined,
      ),
    ),
    fact('observed', span(`${counted(observed)} would have been made`)),
    fact('released', span(`${counted(released)} to be called, whatever the budget is`)),
    fact('no effect', span(running, unconfirmed ? 'yellow' : undefined)),
    fact(
      'over, runs',
      span(
        over === null ? 'not counted yet' : `${counted(over, OVER_RUNNING_COUNTED)} with no stop open`,
        over ? 'red' : undefined,
      ),
    ),
    fact(
      'cut off, fits',
      span(
        within === null ? 'not counted yet' : `${counted(within, OVER_RUNNING_COUNTED)} within the package`,
        within ? 'yellow' : undefined,
      ),
    ),
    fact('resumed', span(`${counted(resumed_day)} in 24 h`)),
  ];
}
