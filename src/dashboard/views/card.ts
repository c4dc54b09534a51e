// The view of a card: for each task type why it is or is not polled, as `cardpoll explain` says it.
import { explanationParts } from '../../cli/output/reports/explanation.ts';
import { ScreenStyle } from '../format.ts';
import { type Line, MARK, missing, plain, type Room, span, stacked } from '../layout.ts';
import type { State } from '../state.ts';

/** More would leave no room for the rest. */
const MOST_STOPS = 3;

export function cardLines(state: State, { columns, rows }: Room): Line[] {
  const { body, problem } = state.data.card;
  if (body === null) return [missing(`card ${state.card ?? ''}`, problem)];
  const style = new ScreenStyle(Date.parse(body.generated_at), columns - MARK.length);
  const shown = { ...body, stops: body.stops.slice(0, MOST_STOPS) };
  const { card, tasks, history } = explanationParts(
    shown,
    style,
    (task) => task.task_type === state.taskType,
  );
  const picked = body.tasks.findIndex(({ task_type }) => task_type === state.taskType);
  const marked = tasks.flatMap((lines, at) =>
    lines.map(
      (line, i): Line => [
        at === picked && i === 0 ? span(MARK, 'picked') : span(' '.repeat(MARK.length)),
        ...line,
      ],
    ),
  );
  const stale = problem === null ? [] : [plain(`not read again: ${problem}`, 'red')];
  return stacked([[...stale, ...card], marked, history], rows);
}
