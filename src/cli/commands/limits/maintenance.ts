// `cardpoll maintenance`: windows, planned ahead, in which task types are not polled.
import { duration, integer, oneOf, text } from '../../../config/kinds.ts';
import { loadTimeZone } from '../../../config/load-config.ts';
import { SELECTION_BOUNDS } from '../../../domain/manual-trigger.ts';
import { RECORD_ID_BOUNDS } from '../../../domain/page.ts';
import {
  MAINTENANCE_SECONDS_BOUNDS,
  scopeWords,
  startProblem,
} from '../../../domain/schedule/maintenance.ts';
import { TASK_TYPES } from '../../../domain/task-type.ts';
import { span } from '../../../domain/words.ts';
import { Zone } from '../../../log-search/time/zone.ts';
import { CardpollError } from '../../../platform/errors.ts';
import type { MaintenanceBody } from '../../../resources/limits.ts';
import { listTable, ofGone, ofOne } from '../../../terminal/table.ts';
import { ask, showAnswer, showList } from '../../ask.ts';
import { type CommandContext, defineCommand } from '../../command.ts';
import { CONFIRM_OPTIONS, confirmIf } from '../../confirm.ts';
import { FUTURE_TIME } from '../../future-time.ts';
import { printAnswer } from '../../output/print.ts';

/** A window of the whole fleet that starts within this time is asked for, as a pause is. */
const SOON_MS = 60_000;

const plan = defineCommand({
  name: 'plan',
  summary: 'Plan a window in which nothing, or a task type, is not polled',
  examples: [
    'cardpoll maintenance plan --from 02:00 --for 4h --reason vendor  # tonight, all task types',
    'cardpoll maintenance plan --from 02:00 --for 4h --carrier 2 --reason swap  # cards of one carrier',
    'cardpoll maintenance plan --from 2026-12-01T02:00 --for 30m --task package --reason billing  # one task type',
  ],
  options: [
    {
      flags: '--from <time>',
      doc: `start, in the time zone of the fleet: ${FUTURE_TIME.accepts}`,
      kind: FUTURE_TIME,
      required: true,
    },
    {
      flags: '--for <duration>',
      doc: 'how long: 30m, 4h, at most 7d',
      kind: duration('s', MAINTENANCE_SECONDS_BOUNDS),
      required: true,
    },
    { flags: '--reason <text>', doc: 'shown with the window', kind: text('reason'), required: true },
    { flags: '--task <task_type>', doc: 'this task type only (default: all)', kind: oneOf(TASK_TYPES) },
    {
      flags: '--carrier <id>',
      doc: 'cards of this carrier only (default: all)',
      kind: integer(SELECTION_BOUNDS),
    },
    ...CONFIRM_OPTIONS,
  ],
  run: async (context, { options: { from, for: seconds, reason, task, carrier, ...confirming } }) => {
    const { clock, stderr } = context.io;
    const zone = await fleetZone(context);
    const nowMs = clock.now();
    const startsAtMs = from(nowMs, zone);
    const problem = startProblem(startsAtMs, nowMs);
    if (problem !== null) throw wrongStart(`${zone.format(startsAtMs)}: a window ${problem}`);
    const scope = { taskType: task ?? null, carrierId: carrier ?? null };
    const times = `${zone.format(startsAtMs)} to ${zone.format(startsAtMs + seconds * 1_000)} (${zone.name}, ${span(seconds)})`;
    const isAll = scope.taskType === null && scope.carrierId === null;
    const lines = [
      `Maintenance of ${scopeWords(scope)}: ${times}`,
      'It is not polled meanwhile, also by hand. What falls due waits, and so do stops and resumes.',
    ];
    await confirmIf(isAll && startsAtMs < nowMs + SOON_MS, context, lines, confirming);
    const order = {
      ...{ task_type: scope.taskType, carrier_id: scope.carrierId },
      ...{ from: new Date(startsAtMs).toISOString(), seconds, reason },
    };
    const answer = await ask(context, 'planning', (client) => client.planMaintenance(order));
    stderr.write(`maintenance ${answer.body.id} of ${scopeWords(scope)}: ${times}\n`);
    return printAnswer(context, answer, ofOne(windowTable));
  },
});

const list = (context: CommandContext) =>
  showList(context, 'reading maintenance windows', (client) => client.maintenance(), {
    table: windowTable,
    empty: 'no maintenance is planned: cardpoll maintenance plan --help',
  });

const cancel = defineCommand({
  name: 'cancel',
  summary: 'Cancel a planned window, or end one that is in force',
  examples: [
    'cardpoll maintenance cancel 3  # number from `cardpoll maintenance`',
    'cardpoll maintenance  # what is planned, and what is in force',
    'cardpoll audit --action maintenance.cancel  # who cancelled one',
  ],
  arguments: [{ name: '<id>', doc: 'number of the window', kind: integer(RECORD_ID_BOUNDS) }],
  run: (context, { args: [id] }) =>
    showAnswer(
      context,
      'cancelling',
      (client) => client.cancelMaintenance(id),
      ofGone(`maintenance ${id} is cancelled`, windowTable),
    ),
});

export const maintenance = defineCommand({
  name: 'maintenance',
  summary: 'Plan, list and cancel maintenance windows (default: list)',
  examples: [
    'cardpoll maintenance  # what is planned, and what is in force',
    'cardpoll maintenance plan --from 02:00 --for 4h --reason vendor  # tonight, all task types',
    'cardpoll maintenance cancel 3  # drops a planned one, or ends the present one',
  ],
  subcommands: [
    plan,
    defineCommand({ name: 'list', summary: 'Show what is planned, and what is in force', run: list }),
    cancel,
  ],
  run: list,
});

const windowTable = listTable<MaintenanceBody>((style) => [
  { header: 'ID', cell: (row) => style.id(row.id) },
  { header: 'TASK', cell: (row) => style.text(row.task_type ?? 'all') },
  { header: 'CARRIER', cell: (row) => style.text(row.carrier_id === null ? 'all' : String(row.carrier_id)) },
  { header: 'STATE', cell: (row) => style.text(row.state) },
  { header: 'FROM', cell: (row) => style.time(row.starts_at) },
  { header: 'UNTIL', cell: (row) => style.time(row.ends_at) },
  { header: 'BY', cell: (row) => style.text(row.by), least: 8, drop: 1 },
  { header: 'REASON', cell: (row) => style.text(row.reason), least: 12, drop: 2 },
]);

async function fleetZone({ configInputs }: CommandContext): Promise<Zone> {
  return new Zone(await loadTimeZone(configInputs));
}

function wrongStart(message: string): CardpollError {
  return new CardpollError('usage', 'maintenance_start', message, {
    hint: 'type the next start, such as --from 02:00; `cardpoll pause` pauses from now on',
  });
}
