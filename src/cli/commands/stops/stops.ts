// `cardpoll stops`: lists the stops of cards. The subcommands are in the other files of this folder.
import type { StopBody } from '../../../api/client/client-bodies.ts';
import { oneOf } from '../../../config/kinds.ts';
import { STOP_STATES, type StopState } from '../../../domain/stops/stop.ts';
import { type PageOptions, pageOptions, showPages } from '../../ask.ts';
import { type CommandSpec, defineCommand } from '../../command.ts';
import type { Colour } from '../../output/style.ts';
import { listTable } from '../../output/table.ts';
import { type PastTime, pastRange } from '../../past-time.ts';
import { CARRIER_OPTION, SINCE_OPTION } from './stop-options.ts';
import { dismiss, release } from './stops-held.ts';
import { mode } from './stops-mode.ts';
import { resume, runs } from './stops-resume.ts';

interface ListOptions extends PageOptions {
  readonly state?: StopState;
  readonly since?: PastTime;
  readonly carrierId?: number;
}

const list = defineCommand<[], ListOptions>({
  name: 'list',
  summary: 'Show stops, the latest first',
  isDefault: true,
  examples: [
    ['cardpoll stops --since 2h', 'stopped, held or observed in the last two hours'],
    ['cardpoll stops list --state held', 'what waits for an operator'],
    ['cardpoll stops list --state observed -o jsonl', 'what mode enforce would have stopped'],
  ],
  options: [
    { flags: '--state <state>', doc: STOP_STATES.join(', '), kind: oneOf(STOP_STATES) },
    SINCE_OPTION,
    CARRIER_OPTION,
    ...pageOptions(20),
  ],
  run: async (context, { options }) => {
    const { state, carrierId } = options;
    const { since, said } = await pastRange(context, options);
    const filter = { state, since, carrier_id: carrierId };
    return showPages(context, options, {
      label: 'reading stops',
      read: (client, page, pageSize) => client.stops(filter, page, pageSize),
      keyOf: ({ card_id, month }) => `${card_id} ${month}`,
      heading: said,
      table: stopTable,
      noun: 'stops',
      empty: Object.values(filter).some((value) => value !== undefined)
        ? 'no stop matches: cardpoll stops shows all'
        : 'no card was stopped yet',
    });
  },
});

export const stops: CommandSpec = {
  name: 'stops',
  summary: 'Show which cards are stopped or held, set the mode of stops, resume cards (default: list)',
  examples: [
    ['cardpoll stops mode observe --reason "too many"', 'emergency: no card is stopped from now on'],
    ['cardpoll stops --state held', 'what waits for an operator'],
    ['cardpoll stops resume --since 2h --reason "wrong readings"', 'the way back; asks first'],
  ],
  subcommands: [list, mode, release, dismiss, resume, runs],
};

const STATES: Partial<Record<StopBody['state'], Colour>> = { held: 'yellow', done: 'red', resumed: 'green' };

const stopTable = listTable<StopBody>((style) => [
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
