// A histogram in plain numbers, for values that every poll reports: prom-client builds a text of the labels at each observation.
// Here each set of labels is a function, made once. Used by instruments.ts. prom-client still writes the text, from `get`.
import type { Histogram, Registry } from 'prom-client';

interface Series {
  readonly labels: Readonly<Record<string, string>>;
  /** Observations in each bucket, by its upper bound; the last bucket has no bound. */
  readonly counts: number[];
  sum: number;
}

export class PlainHistogram {
  readonly type = 'histogram';
  readonly #series: Series[] = [];

  /** @param bounds of the buckets, ascending */
  constructor(
    readonly name: string,
    readonly help: string,
    private readonly bounds: readonly number[],
    registry: Registry,
  ) {
    // A registry uses only the name and `get` of a metric.
    registry.registerMetric(this as unknown as Histogram);
  }

  /** @returns a function that observes a value with these labels. From now on the series is shown. */
  series(labels: Series['labels']): (value: number) => void {
    const { bounds } = this;
    const series = { labels, counts: [...bounds.map(() => 0), 0], sum: 0 };
    this.#series.push(series);
    return (value) => {
      let bucket = 0;
      while (value > (bounds[bucket] as number)) bucket += 1;
      series.counts[bucket] = (series.counts[bucket] as number) + 1;
      series.sum += value;
    };
  }

  async get() {
    const { name, help, type, bounds } = this;
    const values = this.#series.flatMap(({ labels, counts, sum }) => {
      let count = 0;
      const buckets = counts.map((own, i) => {
        count += own;
        return { metricName: `${name}_bucket`, labels: { le: bounds[i] ?? '+Inf', ...labels }, value: count };
      });
      return [
        ...buckets,
        { metricName: `${name}_sum`, labels, value: sum },
        { metricName: `${name}_count`, labels, value: count },
      ];
    });
    return { name, help, type, values, aggregator: 'sum' };
  }
}
