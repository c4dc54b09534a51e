// `cardpoll stops mode`: shows and sets whether cards over their package are stopped.
import type { StopModeBody } from '../../../api/client/client-bodies.ts';
import { oneOf } from '../../../config/kinds.ts';
import { STOP_MODES, type StopMode } from '../../../domain/stops/stop.ts';
import { CardpollError } from '../../../platform/errors.ts';
import { ask, showAnswer } from '../../ask.ts';
import { type CommandContext, defineCommand } from '../../command.ts';
import { CONFIRM_OPTIONS, type ConfirmOptions, confirm, declined } from '../../confirm.ts';
import { fieldList } from '../../output/table.ts';
import { OPTIONAL_REASON } from './stop-options.ts';

interface ModeOptions extends ConfirmOptions {
  readonly reason?: string;
}

export const mode = defineCommand<[StopMode?], ModeOptions>({
  name: 'mode',
  summary: 'Show whether cards are stopped, or set it; enforce also accepts a jump of the readings',
  examples: [
    ['cardpoll stops mode', 'the mode, who set it and why'],
    ['cardpoll stops mode observe --reason "too many"', 'no card is stopped from now on; does not ask'],
    ['cardpoll stops mode enforce --reason "readings are right"', 'stops cards again; asks first'],
  ],
  arguments: [
    {
      name: '[mode]',
      doc: 'enforce: cards over their package are stopped; observe: it is only recorded which would be',
      kind: oneOf(STOP_MODES),
      choices: STOP_MODES,
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
    if (!(await confirm(context, () => planOf(context, wanted), sure))) return declined(options);
    return showAnswer(
      context,
      'setting the mode',
      (client) => client.setStopMode(wanted, reason),
      stopModeFields,
    );
  },
});

async function planOf(context: CommandContext, wanted: StopMode): Promise<string[]> {
  const { body } = await ask(context, 'reading the mode', (client) => client.stopMode());
  const change = `Set the mode of stops to ${wanted}; it is ${body.mode} now.`;
  if (wanted === 'observe') return [change, 'No card is stopped from then on, on any instance.'];
  const { jump } = body;
  const accepts =
    jump === null || jump.accepted_at !== null
      ? []
      : [`This accepts a jump of the readings as right: ${jumpText(jump)}.`];
  return [change, 'Cards over their package are stopped, within the budget.', ...accepts];
}

const stopModeFields = fieldList<StopModeBody>((body, style) => [
  ['mode', style.text(body.mode, body.mode === 'observe' ? 'yellow' : 'green')],
  ['source', style.text(body.source)],
  ['since', style.time(body.since)],
  ['by', style.text(body.by)],
  ['reason', style.text(body.reason)],
  ['setting', style.text(body.setting)],
  ['jump', style.text(body.jump === null ? null : jumpText(body.jump))],
]);

/** The jump of the readings in words. */
function jumpText(jump: NonNullable<StopModeBody['jump']>): string {
  const [baseline, recent] = [jump.baseline_mb_per_hour, jump.recent_mb_per_hour].map(rounded);
  const accepted = jump.accepted_at === null ? 'holds all stops' : `accepted ${jump.accepted_at}`;
  return `since ${jump.since} cards grow by ${recent} MB an hour, before by ${baseline}; ${accepted}`;
}

function rounded(value: number): string {
  return String(Math.round(value * 100) / 100);
}
