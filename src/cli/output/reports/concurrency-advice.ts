// What `cardpoll concurrency advise` says: the limit recommended (operations interface, section 8) for the measured
// response time, with the curve the daemon measured. The rules are in the domain; this file words them.
import type { ConcurrencyBody, TaskBody } from '../../../api/client/client-bodies.ts';
import { recommendedConcurrency } from '../../../domain/limits/operator-limits.ts';
import { type Style, sentenceLines } from '../style.ts';
import { listTable, textOf } from '../table.ts';

type Advice = ReturnType<typeof adviceFor>;

/** @param limit absent when the daemon does not know the type. */
export function adviceFor(task: TaskBody, limit: ConcurrencyBody | undefined) {
  const { task_type, avg_duration_ms, effective_concurrency } = task;
  const { max } = task.concurrency;
  // null while nothing was measured.
  const recommended = avg_duration_ms === null ? null : recommendedConcurrency(avg_duration_ms);
  return {
    task_type,
    avg_duration_ms,
    max_concurrency: max,
    effective_concurrency,
    recommended,
    verdict: verdictOn(max, recommended),
    explanation: explain(limit),
    curve: limit?.curve ?? [],
  };
}

function verdictOn(max: number, recommended: ReturnType<typeof recommendedConcurrency> | null) {
  if (recommended === null) return 'unknown';
  if (max < recommended.min) return 'raise';
  return max > recommended.max ? 'lower' : 'keep';
}

/** What the measured curve shows. */
function explain(limit: ConcurrencyBody | undefined): string {
  const parts = limit === undefined ? [] : [measured(limit)];
  if (typeof limit?.reason === 'string') {
    const { effective_concurrency: inForce, max_concurrency: max, reason } = limit;
    parts.push(inForce < max ? `reduced to ${inForce}: ${reason}` : reason);
  }
  return parts.join('; ');
}

function measured({ curve, knee }: ConcurrencyBody): string {
  const top = curve.at(-1);
  if (top === undefined) return 'no curve yet: the limit was never reached';
  if (knee === null) return `measured at one level: ${point(top)}`;
  if (top.concurrency <= knee.concurrency) return `measured up to ${point(top)}: the rate still grew`;
  return `more than ${knee.concurrency} gains nothing: ${point(knee)}, ${point(top)}`;
}

function point(level: ConcurrencyBody['curve'][number]): string {
  const refused = level.backpressure_percent > 0 ? `, ${round(level.backpressure_percent)} % refused` : '';
  return `${round(level.rate_per_second)}/s in ${round(level.avg_duration_ms)} ms at ${level.concurrency}${refused}`;
}

/** Two digits are enough for small values. */
function round(value: number): number {
  return value < 10 ? Math.round(value * 10) / 10 : Math.round(value);
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
]);

/** The explanations follow the table; in records they are its last column. */
export function adviceText(items: readonly Advice[], style: Style): string {
  const table = adviceTable(items, style);
  if (!style.forPeople) return table;
  const explained = items.filter(({ explanation }) => explanation !== '');
  const lines = explained.flatMap(({ task_type, explanation }) =>
    sentenceLines(`${task_type}: ${explanation}`, style),
  );
  return `${table}${lines.length === 0 ? '' : '\n'}${textOf(lines)}`;
}
