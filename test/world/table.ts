// The table at the end of `npm run prove`: what was lived, what happened, what was checked, what failed.
import type { Verdict } from './night.ts';
import { invariantOf } from './shrink.ts';

const HOUR_MS = 3_600_000;

interface Named {
  readonly name: string;
}

export function tableOf(
  verdicts: readonly Verdict[],
  faults: readonly Named[],
  invariants: readonly Named[],
): string[] {
  const sum = (of: (verdict: Verdict) => number) =>
    verdicts.reduce((total, verdict) => total + of(verdict), 0);
  const virtualMs = sum((v) => v.virtualMs);
  const realMs = sum((v) => v.realMs);
  const row = (name: string, value: number | string) => `  ${name.padEnd(40)} ${String(value).padStart(12)}`;
  const failed = verdicts.filter(({ failures }) => failures.length > 0);
  return [
    '',
    row('seeds', verdicts.length),
    row('virtual hours', (virtualMs / HOUR_MS).toFixed(1)),
    row('times real, of one process', realMs === 0 ? '-' : (virtualMs / realMs).toFixed(1)),
    row(
      'calls of the gateway',
      sum((v) => v.calls),
    ),
    'faults',
    ...faults.map(({ name }) =>
      row(
        name,
        sum(({ happened }) => happened[name] ?? 0),
      ),
    ),
    'checks',
    ...invariants.map(({ name }) =>
      row(
        name,
        sum(({ checks }) => checks[name] ?? 0),
      ),
    ),
    row('failures', failed.length),
    ...failed.map((verdict) => `  seed ${verdict.night.seed}: ${invariantOf(verdict)}`),
  ];
}
