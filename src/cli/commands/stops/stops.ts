// `cardpoll stops`: lists the stops of cards; `stops mode`: shows and sets whether cards over their package are stopped.
// The other subcommands are in the other files of this folder.
import { planLines } from '../../../changes/planned-change.ts';
import { stopModeChange } from '../../../changes/stops.ts';
import { oneOf } from '../../../config/kinds.ts';
import { loadTimeZone } from '../../../config/load-config.ts';
import { MonthCalendar } from '../../../domain/cards/month-calendar.ts';
import { monthTurnAhead } from '../../../domain/cards/month-end.ts';
import { STOP_FILTERS, STOP_MODES, type StopMode } from '../../../domain/stops/stop.ts';
import { Zone } from '../../../log-search/time/zone.ts';
import { CardpollError } from '../../../platform/errors.ts';
import type { StopModeBody } from '../../../resources/stops.ts';
import { monthEndText } from '../../../terminal/fleet-lines.ts';
import { stopColumns } from '../../../terminal/reports/stop-table.ts';
import { type Field, fieldList, listTable } from '../../../terminal/table.ts';
import { ask, pageOptions, showAnswer, showPages } from '../../ask.ts';
import { type CommandContext, type CommandSpec, defineCommand } from '../../command.ts';
import { CONFIRM_OPTIONS, confirm } from '../../confirm.ts';
import { PAST_TIME, pastRange } from '../../past-time.ts';
import { CARRIER_OPTION, OPTIONAL_REASON, SINCE_OPTION } from './stop-options.ts';
import { dismiss, release } from './stops-held.ts';
import { resume, runs } from './stops-resume.ts';

const list = defineCommand({
  name: 'list',
  summary: 'Show stops, the latest first',
  isDefault: true,
  examples: [
    'cardpoll stops --since 2h  # stopped, held or observed in the last two hours',
    'cardpoll stops list --since 01:00 --until 02:00  # those of one hour of last night',
    'cardpoll stops list --state held  # what waits for an operator',
    'cardpoll stops list --state observed -o jsonl  # what mode enforce would have stopped',
  ],
  options: [
    { flags: '--state <state>', doc: STOP_FILTERS.join(', '), kind: oneOf(STOP_FILTERS) },
    SINCE_OPTION,
    { flags: '--until <time>', doc: 'only stops before this time', kind: PAST_TIME },
    CARRIER_OPTION,
    ...pageOptions(20),
  ],
  run: async (context, { options }) => {
    const { state, carrierId } = options;
    const { since, until, said } = await pastRange(context, options);
    await sayMonthEnd(context);
    const filter = { state, since, until, carrier_id: carrierId };
    return showPages(context, options, {
      label: 'reading stops',
      read: (client, page, pageSize) => client.stops(filter, page, pageSize),
      keyOf: ({ card_id, month }) => `${card_id} ${month}`,
      heading: said,
      table: listTable(stopColumns),
      noun: 'stops',
      empty: Object.values(filter).some((value) => value !== undefined)
        ? 'no stop matches: cardpoll stops shows all'
        : 'no card was stopped yet',
    });
  },
});

/** In the last three days of a month. The daemon is asked only where that may be so by this machine's clock. */
async function sayMonthEnd(context: CommandContext): Promise<void> {
  if (context.format !== 'table') return;
  const calendar = new MonthCalendar(new Zone(await loadTimeZone(context.configInputs)).name);
  if (monthTurnAhead(calendar, context.io.clock.now()) === null) return;
  const { body } = await ask(context, 'reading statistics', (client) => client.overview());
  const text = monthEndText(body);
  if (text !== null) context.io.stderr.write(`the month ends ${text}\n`);
}

const mode = defineCommand({
  name: 'mode',
  summary: 'Show whether cards are stopped, or set it; enforce also accepts a jump of the readings',
  examples: [
    'cardpoll stops mode  # the mode, who set it and why',
    'cardpoll stops mode observe --reason "too many"  # no card is stopped from now on; does not ask',
    'cardpoll stops mode enforce --reason "readings are right"  # stops cards again; asks first',
  ],
  arguments: [
    {
      name: '[mode]',
      doc: 'enforce: stop cards over their package; observe: only record which cards would be stopped',
      kind: oneOf(STOP_MODES),
    },
  ],
  options: [OPTIONAL_REASON, ...CONFIRM_OPTIONS],
  run: async (context, { args: [wanted], options }) => {
    if (wanted === undefined) {
      return showAnswer(context, 'reading the mode', (client) => client.stopMode(), stopModeFields);
    }
    const { reason } = options;
    if (reason === undefined) {
      throw new CardpollError('usage', 'reason_missing', 'setting the mode needs --reason "..."');
    }
    // In an emergency observe must not wait for an answer.
    const sure = { yes: wanted === 'observe', ...options };
    await confirm(context, async () => planLines(await plannedMode(context, wanted, reason)), sure);
    return showAnswer(
      context,
      'setting the mode',
      (client) => client.setStopMode(wanted, reason),
      stopModeFields,
    );
  },
});

async function plannedMode(context: CommandContext, wanted: StopMode, reason: string) {
  const { body } = await ask(context, 'reading the mode', (client) => client.stopMode());
  const { jump } = body;
  const isHolding = jump !== null && jump.accepted_at === null;
  const counted = async (state: 'observed' | 'released') =>
    (await ask(context, 'counting', (client) => client.stops({ state }, 1, 1))).body.total;
  const calls =
    wanted === 'observe'
      ? null
      : { observed: await counted('observed'), released: await counted('released') };
  return stopModeChange([body.mode, wanted], isHolding ? jumpText(jump) : null, calls, reason);
}

type SampledCard = NonNullable<StopModeBody['jump']>['sample'][number];

const stopModeFields = fieldList<StopModeBody>((body, style) => [
  ['mode', style.text(body.mode, body.mode === 'observe' ? 'yellow' : 'green')],
  ['source', style.text(body.source)],
  ['since', style.time(body.since)],
  ['by', style.text(body.by)],
  ['reason', style.text(body.reason)],
  ['setting', style.text(body.setting)],
  ['jump', style.text(body.jump === null ? null : jumpText(body.jump))],
  ...(body.jump?.sample ?? []).map((card): Field => [`card ${card.card_id}`, style.text(stepText(card))]),
]);

function stepText({ carrier_id: carrier, before_mb: before, shown_mb: shown }: SampledCard): string {
  const times = before !== null && before > 0 ? `, x${rounded(shown / before)}` : '';
  const was = before === null ? 'no step' : `${rounded(before)} MB before${times}`;
  return `${rounded(shown)} MB shown, ${was} (carrier ${carrier})`;
}

function jumpText(jump: NonNullable<StopModeBody['jump']>): string {
  const [baseline, recent] = [jump.baseline_mb_per_hour, jump.recent_mb_per_hour].map(rounded);
  const accepted = jump.accepted_at === null ? 'holds all stops' : `accepted ${jump.accepted_at}`;
  return `since ${jump.since} cards grow by ${recent} MB an hour, before by ${baseline}; ${accepted}`;
}

function rounded(value: number): string {
  return String(Math.round(value * 100) / 100);
}

export const stops: CommandSpec = {
  name: 'stops',
  summary: 'Show which cards are stopped or held, set the mode of stops, resume cards (default: list)',
  examples: [
    'cardpoll stops mode observe --reason "too many"  # emergency: no card is stopped from now on',
    'cardpoll stops --state held  # what waits for an operator',
    'cardpoll stops resume --since 2h --reason "wrong readings"  # the way back; asks first',
  ],
  subcommands: [list, mode, release, dismiss, resume, runs],
};
