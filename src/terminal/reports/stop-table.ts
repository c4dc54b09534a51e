// The stops of cards as a table. Used by `cardpoll stops` and the dashboard. Shows the API's values.
import type { StopBody } from '../../resources/stops.ts';
import type { Colour, Style } from '../style.ts';
import type { ColumnsOf } from '../table.ts';

const STATES: Partial<Record<StopBody['state'], Colour>> = { held: 'yellow', done: 'red', resumed: 'green' };
/** Shown instead of the time after which the next reading decides. */
const HOLD_ENDS = { jump_end: 'the jump ends', operator: 'you decide', none: null };

export const stopColumns: ColumnsOf<StopBody> = (style) => [
  { header: 'CARD', cell: (row) => style.id(row.card_id) },
  { header: 'ICCID', cell: (row) => style.text(row.iccid), least: 22, drop: 4 },
  { header: 'CARRIER', cell: (row) => style.id(row.carrier_id), drop: 4 },
  { header: 'MONTH', cell: (row) => style.text(row.month), drop: 3 },
  { header: 'STATE', cell: (row) => style.text(stateOf(row, style), STATES[row.state]), least: 22 },
  { header: 'USED MB', cell: (row) => style.number(row.used_mb, 0, 2), drop: 10 },
  { header: 'ALLOWANCE MB', cell: (row) => style.number(row.allowance_mb, 0, 2), drop: 8 },
  { header: 'REQUESTED', cell: (row) => style.time(row.requested_at), drop: 9 },
  { header: 'STOPPED', cell: (row) => style.time(row.completed_at), drop: 5 },
  { header: 'RESUMED', cell: (row) => style.time(row.resumed_at), drop: 2 },
  { header: 'HELD BY', cell: (row) => style.text(row.held_by), drop: 11 },
  {
    header: 'HELD UNTIL',
    cell: (row) =>
      row.held_for === 'reading' ? style.time(row.held_until) : style.text(HOLD_ENDS[row.held_for ?? 'none']),
    drop: 3,
  },
  { header: 'BY', cell: (row) => style.text(row.ordered_by), least: 8, drop: 6 },
  { header: 'REASON', cell: (row) => style.text(row.reason), least: 10, drop: 7 },
  { header: 'UNDER WAY SINCE', cell: (row) => style.time(row.pending_since), drop: 1 },
  { header: 'ATTEMPTS', cell: (row) => style.number(row.attempts), drop: 1 },
  { header: 'UNCONFIRMED', cell: (row) => style.number(row.unconfirmed), drop: 1 },
  { header: 'LAST ERROR', cell: (row) => style.text(row.last_error), drop: 1 },
];

/** On a terminal a stop that the vendor works on is shown as in progress. */
function stateOf({ state, pending_since }: StopBody, style: Style): string {
  const lasted = style.lasting(pending_since);
  return lasted === null ? state : `under way for ${lasted}`;
}
