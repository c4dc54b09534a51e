// The view of manual triggers and their progress, with the latest first.
import type { TriggerBody } from '../../api/client/client-bodies.ts';
import { gauge } from '../charts.ts';
import { count, relative } from '../format.ts';
import {
  type Line,
  missing,
  plain,
  type Room,
  type SpanColumn,
  span,
  stacked,
  type Tone,
  tableLines,
} from '../layout.ts';
import { dataTimeMs, type State } from '../state.ts';

const TONES: Partial<Record<TriggerBody['status'], Tone>> = {
  completed: 'good',
  cancelled: 'warn',
  running: 'accent',
};
const BAR_COLUMNS = 10;

export function triggersLines(state: State, { columns, rows }: Room): Line[] {
  const { body, problem } = state.data.triggers;
  if (body === null) return [missing('triggers', problem)];
  if (body.items.length === 0) {
    return [
      plain('Nothing was triggered by hand.'),
      [
        span('To have a card polled now: '),
        span('cardpoll trigger single --card-id 42 --task realname', 'accent'),
      ],
    ];
  }
  const summary = plain(`the latest ${body.items.length} of ${body.total} triggers`, 'dim');
  const table = tableLines(body.items, triggerColumns(dataTimeMs(state)), {
    columns,
    rows: rows - 2,
    selected: state.picked,
  });
  return stacked([[summary], table], rows);
}

function triggerColumns(nowMs: number): SpanColumn<TriggerBody>[] {
  return [
    { header: 'TRIGGER', cell: ({ trigger_id }) => span(trigger_id) },
    { header: 'TASK', cell: ({ task_type }) => span(task_type) },
    { header: 'STATUS', cell: ({ status }) => span(status, TONES[status]) },
    { header: 'KIND', cell: ({ kind }) => span(kind.replace('_', ' ')), drop: 1 },
    {
      header: 'DONE',
      cell: ({ total, succeeded, failed }) =>
        span(gauge(total === 0 ? 1 : (succeeded + failed) / total, BAR_COLUMNS), 'accent'),
      drop: 2,
    },
    {
      header: 'CARDS',
      cell: ({ total, total_estimated }) => span(`${total_estimated ? '~' : ''}${count(total)}`),
      align: 'right',
    },
    { header: 'WAIT', cell: ({ waiting }) => span(count(waiting)), align: 'right' },
    { header: 'RUN', cell: ({ running }) => span(count(running)), align: 'right', drop: 3 },
    { header: 'OK', cell: ({ succeeded }) => span(count(succeeded)), align: 'right', drop: 3 },
    {
      header: 'FAILED',
      cell: ({ failed }) => span(count(failed), failed > 0 ? 'bad' : undefined),
      align: 'right',
    },
    { header: 'MADE', cell: ({ created_at }) => span(relative(created_at, nowMs)), drop: 3 },
  ];
}
