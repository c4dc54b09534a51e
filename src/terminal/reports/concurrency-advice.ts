// The output of `cardpoll concurrency advise`: the advice of the daemon for each task type. Computes none.
import type { TaskBody } from '../../resources/stats.ts';
import { type Style, sentenceLines } from '../style.ts';
import { listTable, textOf } from '../table.ts';

type Advice = ReturnType<typeof adviceFor>;

export function adviceFor({ task_type, effective_concurrency, concurrency, advice, ...task }: TaskBody) {
  return {
    task_type,
    avg_duration_ms: task.avg_duration_ms_10s,
    max_concurrency: concurrency.max,
    effective_concurrency,
    recommended: advice.recommended,
    verdict: advice.verdict,
    advised: advice.max_concurrency,
    explanation: advice.why,
  };
}

const adviceTable = listTable<Advice>((style) => [
  { header: 'TASK', cell: (row) => style.text(row.task_type) },
  { header: 'AVG MS', cell: (row) => style.number(row.avg_duration_ms) },
  { header: 'LIMIT', cell: (row) => style.number(row.max_concurrency) },
  {
    header: 'RECOMMENDED',
    cell: ({ recommended }) => style.text(recommended && `${recommended.min}-${recommended.max}`),
  },
  {
    header: 'VERDICT',
    cell: ({ verdict }) =>
      style.text(verdict, verdict === 'raise' || verdict === 'lower' ? 'yellow' : undefined),
  },
  ...(style.forPeople ? [] : [{ header: 'MEASURED', cell: (row: Advice) => style.text(row.explanation) }]),
  { header: style.forPeople ? 'ADVISED LIMIT' : 'ADVISED', cell: (row) => style.number(row.advised) },
]);

/** The explanations follow the table; in records they are a column. */
export function adviceText(items: readonly Advice[], style: Style): string {
  const table = adviceTable(items, style);
  if (!style.forPeople) return table;
  const lines = items.flatMap(({ task_type, explanation }) =>
    sentenceLines(`${task_type}: ${explanation}`, style),
  );
  return `${table}${lines.length === 0 ? '' : '\n'}${textOf(lines)}`;
}
