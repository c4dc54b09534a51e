// What `cardpoll concurrency advise` says: the limit the specification's table recommends for the measured response
// time, explained by the curve the daemon measured. The rules are the domain's; this puts them into words.
import type { ConcurrencyBody, TaskBody } from '../../api/client.ts';
import { recommendedConcurrency } from '../../domain/health.ts';
import type { Style } from './style.ts';
import { renderTable } from './table.ts';

export interface Advice {
  readonly task_type: string;
  readonly avg_duration_ms: number | null;
  readonly max_concurrency: number;
  readonly effective_concurrency: number;
  /** null while nothing was measured. */
  readonly recommended: { readonly min: number; readonly max: number } | null;
  readonly verdict: 'raise' | 'lower' | 'keep' | 'unknown';
  /** What the measured curve says to it. */
  readonly explanation: string;
  readonly curve: ConcurrencyBody['curve'];
}

/** @param limit absent when the daemon does not know the type. */
export function adviceFor(task: TaskBody, limit: ConcurrencyBody | undefined): Advice {
  const { task_type, avg_duration_ms, effective_concurrency } = task;
  const { max } = task.concurrency;
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

function verdictOn(max: number, recommended: Advice['recommended']): Advice['verdict'] {
  if (recommended === null) return 'unknown';
  if (max < recommended.min) return 'raise';
  return max > recommended.max ? 'lower' : 'keep';
}

function explain(limit: ConcurrencyBody | undefined): string {
  const parts = limit === undefined ? [] : [measured(limit)];
  if (typeof limit?.reason === 'string')
    parts.push(`reduced to ${limit.effective_concurrency}: ${limit.reason}`);
  return parts.join('; ');
}

function measured({ curve, knee }: ConcurrencyBody): string {
  const top = curve.at(-1);
  if (top === undefined) return 'the limit was never reached: no curve yet';
  if (knee === null) return `measured at one level: ${point(top)}`;
  if (top.concurrency <= knee.concurrency) return `measured up to ${point(top)}: the rate still grew`;
  return `more than ${knee.concurrency} gains nothing: ${point(knee)}, ${point(top)}`;
}

function point(level: ConcurrencyBody['curve'][number]): string {
  const refused = level.backpressure_percent > 0 ? `, ${round(level.backpressure_percent)} % refused` : '';
  return `${round(level.rate_per_second)}/s in ${round(level.avg_duration_ms)} ms at ${level.concurrency}${refused}`;
}

/** Two digits tell enough of what is small. */
function round(value: number): number {
  return value < 10 ? Math.round(value * 10) / 10 : Math.round(value);
}

export function adviceTable(items: readonly Advice[], style: Style): string {
  const columns = [
    { header: 'TASK', cell: (row: Advice) => style.text(row.task_type) },
    { header: 'AVG MS', cell: (row: Advice) => style.number(row.avg_duration_ms), drop: 1 },
    { header: 'LIMIT', cell: (row: Advice) => style.number(row.max_concurrency) },
    {
      header: 'RECOMMENDED',
      cell: ({ recommended }: Advice) => style.text(recommended && `${recommended.min}-${recommended.max}`),
    },
    {
      header: 'VERDICT',
      cell: ({ verdict }: Advice) =>
        style.text(verdict, verdict === 'raise' || verdict === 'lower' ? 'yellow' : undefined),
    },
    { header: 'MEASURED', cell: (row: Advice) => style.text(row.explanation), least: 20 },
  ];
  return renderTable(items, columns, style);
}
