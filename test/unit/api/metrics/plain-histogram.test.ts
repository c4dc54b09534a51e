// The histogram in plain numbers is shown as prom-client shows its own.
import { Histogram, Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { PlainHistogram } from '../../../../src/api/metrics/plain-histogram.ts';

const NAME = 'cardpoll_call_seconds';
const HELP = 'Duration of calls,\nwith a "quoted" word and a \\';
const BOUNDS = [0.01, 0.1, 0.25, 1, 30];

it('a histogram in plain numbers has the text of one of prom-client, before and after observations', async () => {
  const [plainRegistry, registry] = [new Registry(), new Registry()];
  const plain = new PlainHistogram(NAME, HELP, BOUNDS, plainRegistry);
  const labelNames = ['interface', 'result'];
  const reference = new Histogram({
    ...{ name: NAME, help: HELP, labelNames, buckets: BOUNDS, registers: [registry] },
  });
  const sets = [
    { interface: 'flow', result: 'succeeded' },
    { interface: 'with "quotes"', result: 'back\\slash' },
  ];
  const observers = sets.map((labels) => {
    reference.zero(labels);
    return plain.series(labels);
  });
  expect(await plainRegistry.metrics()).toBe(await registry.metrics());
  for (const value of [0, 0.01, 0.010001, 0.1, 0.3, 1, 29.999, 30, 30.1, 1e9, 0.1 + 0.2, 1e-9]) {
    for (const [i, labels] of sets.entries()) {
      observers[i]?.(value * (i + 1));
      reference.observe(labels, value * (i + 1));
    }
  }
  expect(await plainRegistry.metrics()).toBe(await registry.metrics());
});
