// The check of Prometheus' conventions finds what breaks them, and nothing else.
import { expect, it } from 'vitest';
import { breachesOf } from '../../../support/metric-conventions.ts';

const page = (name: string, type: string, ...samples: string[]) =>
  [`# HELP ${name} Some help`, `# TYPE ${name} ${type}`, ...samples, ''].join('\n');

it.each([
  ['a total on a gauge', page('x_handles_total', 'gauge', 'x_handles_total 3'), 'x_handles_total is a gauge'],
  ['a total on a summary', page('x_total', 'summary', 'x_total_sum 3'), 'x_total is a summary'],
  ['a counter without it', page('x_polls', 'counter', 'x_polls 3'), 'x_polls is a counter'],
  [
    'a quantile of a gauge',
    page('x_seconds', 'gauge', 'x_seconds{type="a",quantile="0.5"} 3'),
    'x_seconds is a gauge and has the label quantile',
  ],
  [
    'a bucket of a counter',
    page('x_total', 'counter', 'x_total{le="0.5"} 3'),
    'x_total is a counter and has the label le',
  ],
  [
    'a quantile of a histogram',
    page('x_seconds', 'histogram', 'x_seconds_bucket{quantile="0.5"} 3'),
    'x_seconds_bucket is a histogram and has the label quantile',
  ],
  ['milliseconds', page('x_ms', 'gauge', 'x_ms 3'), 'x_ms is not in a base unit'],
  ['percent', page('x_used_percent', 'gauge', 'x_used_percent 3'), 'x_used_percent is not in a base unit'],
  ['a metric without help', '# HELP x \n# TYPE x gauge\nx 3\n', 'x has no help'],
  ['a sample without a type', 'x{a="b"} 3\n', 'x has no type'],
])('the check of conventions finds %s', (_, text, breach) => {
  expect(breachesOf(text)).toEqual([breach]);
});

it('the check of conventions takes each type as it should be', () => {
  const text = [
    page('x_polls_total', 'counter', 'x_polls_total{result="failed"} 3'),
    page('x_memory_bytes', 'gauge', 'x_memory_bytes{note="quantile=\'1\', le"} 3'),
    page('x_seconds', 'histogram', 'x_seconds_bucket{le="+Inf"} 3', 'x_seconds_sum 3', 'x_seconds_count 3'),
    page('y_seconds', 'summary', 'y_seconds{quantile="0.5"} 3', 'y_seconds_sum 3', 'y_seconds_count 3'),
  ];
  expect(breachesOf(text.join('\n'))).toEqual([]);
});
