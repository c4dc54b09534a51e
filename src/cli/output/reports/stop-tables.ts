// Stops, their mode and runs that resume cards, as tables. Used by the commands about stops. Shows what the API says.
import type {
  OrderedStopBody,
  ResumeRunBody,
  StopBody,
  StopModeBody,
} from '../../../api/client/client-bodies.ts';
import type { Colour, Style } from '../style.ts';
import { fieldList, listTable, renderFields } from '../table.ts';

const STATES: Partial<Record<StopBody['state'], Colour>> = { held: 'yellow', done: 'red', resumed: 'green' };
const RUN_STATES: Partial<Record<ResumeRunBody['status'], Colour>> = {
  completed: 'green',
  cancelled: 'yellow',
};
/** Cards that are named; of the others only the number is shown. */
const NAMED = 20;

export const stopTable = listTable<StopBody>((style) => [
  { header: 'CARD', cell: (row) => style.id(row.card_id) },
  { header: 'ICCID', cell: (row) => style.text(row.iccid), least: 22, drop: 4 },
  { header: 'CARRIER', cell: (row) => style.id(row.carrier_id), drop: 4 },
  { header: 'MONTH', cell: (row) => style.text(row.month), drop: 3 },
  { header: 'STATE', cell: (row) => style.text(row.state, STATES[row.state]) },
  { header: 'USED MB', cell: (row) => style.number(row.used_mb), drop: 10 },
  { header: 'ALLOWANCE MB', cell: (row) => style.number(row.allowance_mb), drop: 8 },
  { header: 'REQUESTED', cell: (row) => style.time(row.requested_at), drop: 9 },
  { header: 'STOPPED', cell: (row) => style.time(row.completed_at), drop: 5 },
  { header: 'RESUMED', cell: (row) => style.time(row.resumed_at), drop: 2 },
  { header: 'HELD BY', cell: (row) => style.text(row.held_by), drop: 11 },
  { header: 'BY', cell: (row) => style.text(row.ordered_by), least: 8, drop: 6 },
  { header: 'REASON', cell: (row) => style.text(row.reason), least: 10, drop: 7 },
  { header: 'ATTEMPTS', cell: (row) => style.number(row.attempts), drop: 1 },
  { header: 'UNCONFIRMED', cell: (row) => style.number(row.unconfirmed), drop: 1 },
  { header: 'LAST ERROR', cell: (row) => style.text(row.last_error), drop: 1 },
]);

export const stopModeFields = fieldList<StopModeBody>((body, style) => [
  ['mode', style.text(body.mode, body.mode === 'observe' ? 'yellow' : 'green')],
  ['source', style.text(body.source)],
  ['since', style.time(body.since)],
  ['by', style.text(body.by)],
  ['reason', style.text(body.reason)],
  ['setting', style.text(body.setting)],
  ['jump', style.text(body.jump === null ? null : jumpText(body.jump))],
]);

/** The jump of the readings in words. */
export function jumpText(jump: NonNullable<StopModeBody['jump']>): string {
  const [baseline, recent] = [jump.baseline_mb_per_hour, jump.recent_mb_per_hour].map(rounded);
  const accepted = jump.accepted_at === null ? 'holds all stops' : `accepted ${jump.accepted_at}`;
  return `since ${jump.since} cards grow by ${recent} MB an hour, before by ${baseline}; ${accepted}`;
}

/** What became of held stops. */
export interface Decision {
  /** `released`. */
  readonly done: string;
  readonly count: number;
  readonly notHeld: readonly number[];
}

export function decisionFields({ done, count, notHeld }: Decision, style: Style): string {
  const more = notHeld.length > NAMED ? ` and ${notHeld.length - NAMED} more` : '';
  const named = notHeld.length === 0 ? null : `${notHeld.slice(0, NAMED).join(', ')}${more}`;
  return renderFields(
    [
      [done, style.number(count)],
      ['not held', style.text(named)],
    ],
    style,
  );
}

export const orderedStopFields = fieldList<OrderedStopBody>((body, style) => [
  ['card', style.id(body.card_id)],
  ['state', style.text(body.state)],
]);

export const resumeRunTable = listTable<ResumeRunBody>((style) => [
  { header: 'RUN', cell: (row) => style.text(row.id), least: 36 },
  { header: 'STATUS', cell: (row) => style.text(row.status, RUN_STATES[row.status]) },
  { header: 'TOTAL', cell: (row) => style.number(row.total), drop: 6 },
  { header: 'WAITING', cell: (row) => style.number(row.waiting), drop: 8 },
  { header: 'RESUMED', cell: (row) => style.number(row.resumed), drop: 5 },
  { header: 'FAILED', cell: (row) => style.failures(row.failed), drop: 9 },
  { header: 'BY', cell: (row) => style.text(row.by), least: 8, drop: 4 },
  { header: 'REASON', cell: (row) => style.text(row.reason), least: 12, drop: 3 },
  { header: 'CREATED', cell: (row) => style.time(row.created_at), drop: 7 },
  { header: 'FINISHED', cell: (row) => style.time(row.finished_at), drop: 2 },
  { header: 'WAITS FOR', cell: (row) => style.text(row.waits_for), drop: 1 },
]);

export const resumeRunFields = fieldList<ResumeRunBody>((run, style) => [
  ['run', style.text(run.id)],
  ['status', style.text(run.status, RUN_STATES[run.status])],
  ['total', style.number(run.total)],
  ...(run.status === 'filling' ? [['filled', style.number(run.filled)] as const] : []),
  ['waiting', style.number(run.waiting)],
  ['resumed', style.number(run.resumed)],
  ['already running', style.number(run.already_running)],
  ['failed', style.failures(run.failed)],
  ['cancelled', style.number(run.cancelled)],
  ['skipped', style.number(run.skipped)],
  ['reason', style.text(run.reason)],
  ['stop again', style.text(run.stop_again ? 'yes' : 'no')],
  ['by', style.text(run.by)],
  ['created', style.time(run.created_at)],
  ['finished', style.time(run.finished_at)],
  ['last error', style.text(run.last_error)],
  ['waits for', style.text(run.waits_for)],
]);

function rounded(value: number): string {
  return String(Math.round(value * 100) / 100);
}
