// The view of a card: for each task type why it is polled or not, as in `cardpoll explain`.
import { explanationParts } from '../../terminal/reports/explanation.ts';
import { ScreenStyle } from '../format.ts';
import { MARK, marked, missing, plain } from '../layout.ts';
import type { Part, ViewProps } from '../part.tsx';

/** More would leave no room for the rest. */
const MOST_STOPS = 3;

export function cardView({ state, columns }: ViewProps): Part[] {
  const { body, problem } = state.data.card;
  if (body === null) return [[missing(`card ${state.card ?? ''}`, problem)]];
  const style = new ScreenStyle(Date.parse(body.generated_at), columns - MARK.length);
  const shown = { ...body, stops: body.stops.slice(0, MOST_STOPS) };
  const { card, tasks, history } = explanationParts(
    shown,
    style,
    (task) => task.task_type === state.taskType,
  );
  const picked = body.tasks.findIndex(({ task_type }) => task_type === state.taskType);
  const stale = problem === null ? [] : [plain(`not read again: ${problem}`, 'red')];
  return [[...stale, ...card], tasks.flatMap((lines, at) => marked(lines, at === picked)), history];
}
