// A summary of figures that the store has already added up: prom-client's Summary takes single observations. Used by metrics.ts.
// prom-client still writes the text, from `get`.
import type { Registry, Summary } from 'prom-client';

/**
 * The values for one set of labels. Sum and count only grow; a quantile covers a recent window, and is null without an
 * observation.
 */
export interface StoredSeries {
  readonly labels: Readonly<Record<string, string>>;
  readonly quantiles: Readonly<Record<string, number | null>>;
  readonly sum: number;
  readonly count: number;
}

export class StoredSummary {
  readonly type = 'summary';

  constructor(
    readonly name: string,
    readonly help: string,
    private readonly all: readonly StoredSeries[],
    registry: Registry,
  ) {
    // A registry uses only the name and `get` of a metric.
    registry.registerMetric(this as unknown as Summary);
  }

  async get() {
    const { name, help, type } = this;
    const values = this.all.flatMap(({ labels, quantiles, sum, count }) => [
      ...Object.entries(quantiles).flatMap(([quantile, value]) =>
        value === null ? [] : [{ labels: { quantile, ...labels }, value }],
      ),
      { metricName: `${name}_sum`, labels, value: sum },
      { metricName: `${name}_count`, labels, value: count },
    ]);
    return { name, help, type, values };
  }
}
