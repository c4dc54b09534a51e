// `cardpoll alerts silence | silences | unsilence`: suppressing notifications for a time.
import type { SilenceBody } from '../../../api/client/client-bodies.ts';
import { duration, integer, oneOf, text } from '../../../config/kinds.ts';
import { RULE_TYPES, type RuleType } from '../../../domain/alerts/alert-rule.ts';
import { SILENCE_SECONDS_BOUNDS } from '../../../domain/alerts/alert-silence.ts';
import { RECORD_ID_BOUNDS } from '../../../domain/page.ts';
import { TASK_TYPES, type TaskType } from '../../../domain/task-type.ts';
import { CardpollError } from '../../../platform/errors.ts';
import { showAnswer, showList } from '../../ask.ts';
import { defineCommand } from '../../command.ts';
import { findAlertRule } from '../../named.ts';
import { span } from '../../output/style.ts';
import { listTable, ofOne } from '../../output/table.ts';
import { RULE } from './alert-rules.ts';

const DEFAULT_SECONDS = 3_600;
const EXAMPLES = [
  ['cardpoll alerts silence 3 --for 2h --reason "import runs"', 'one rule, by number or name'],
  ['cardpoll alerts silence --type avg_duration --for 30m', 'every rule of a type'],
  ['cardpoll alerts silences', 'active silences'],
] as const;

interface SilenceOptions {
  readonly type?: RuleType;
  readonly task?: TaskType;
  readonly for: number;
  readonly reason: string;
}

export const silence = defineCommand<[string?], SilenceOptions>({
  name: 'silence',
  summary: 'Suppress notifications for a time; alerts stay in the history',
  examples: EXAMPLES,
  arguments: [{ ...RULE, name: '[rule]' }],
  options: [
    { flags: '--type <rule_type>', doc: 'every rule of this type', kind: oneOf(RULE_TYPES) },
    { flags: '--task <task_type>', doc: 'every rule of this task type', kind: oneOf(TASK_TYPES) },
    {
      flags: '--for <duration>',
      doc: `how long: 90s, 10m, 2h (default: ${span(DEFAULT_SECONDS)})`,
      kind: duration('s', SILENCE_SECONDS_BOUNDS),
      default: DEFAULT_SECONDS,
    },
    { flags: '--reason <text>', doc: 'shown with the silence', kind: text('reason'), default: '' },
  ],
  run: async (context, { args: [given], options: { type, task, for: seconds, reason } }) => {
    if (given === undefined && type === undefined && task === undefined) {
      throw new CardpollError(
        'usage',
        'nothing_to_silence',
        'nothing to silence: give a rule, --type or --task',
      );
    }
    return showAnswer(
      context,
      'silencing',
      async (client) =>
        client.createSilence({
          ...(given === undefined ? {} : { rule_id: (await findAlertRule(client, given)).id }),
          ...(type === undefined ? {} : { rule_type: type }),
          ...(task === undefined ? {} : { task_type: task }),
          ...{ seconds, reason },
        }),
      ofOne(silenceTable),
    );
  },
});

export const silences = defineCommand({
  name: 'silences',
  summary: 'Show active silences',
  examples: EXAMPLES,
  run: (context) =>
    showList(context, 'reading the silences', (client) => client.silences(), {
      table: silenceTable,
      noun: 'silences',
      empty: 'nothing is silenced: cardpoll alerts silence --help',
    }),
});

export const unsilence = defineCommand<[number], unknown>({
  name: 'unsilence',
  summary: 'End a silence; alerts still firing are sent now',
  examples: [
    ['cardpoll alerts unsilence 5', 'number from `cardpoll alerts silences`'],
    ['cardpoll alerts silences', 'active silences'],
    ['cardpoll alerts history --state firing', 'firing alerts'],
  ],
  arguments: [{ name: '<silence_id>', doc: 'number of the silence', kind: integer(RECORD_ID_BOUNDS) }],
  run: (context, { args: [id] }) =>
    showAnswer(context, 'ending the silence', (client) => client.deleteSilence(id), ofOne(silenceTable)),
});

const silenceTable = listTable<SilenceBody>((style) => [
  { header: 'ID', cell: (row) => style.id(row.id) },
  { header: 'RULE', cell: (row) => style.id(row.rule_id) },
  { header: 'TYPE', cell: (row) => style.text(row.rule_type), drop: 4 },
  { header: 'TASK', cell: (row) => style.text(row.task_type), drop: 5 },
  { header: 'BY', cell: (row) => style.text(row.by), least: 8, drop: 2 },
  { header: 'SINCE', cell: (row) => style.time(row.since), drop: 1 },
  { header: 'UNTIL', cell: (row) => style.time(row.until) },
  { header: 'REASON', cell: (row) => style.text(row.reason), least: 12, drop: 3 },
]);
