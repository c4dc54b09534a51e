// The metrics of one process, as opposed to those of the fleet: its memory and event loop, whether it leads, its lost log lines,
// and its counters and timers. metrics.ts serves them.
import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { type Instruments, PREFIX } from './instruments.ts';

/** Gauges of prom-client that have the suffix of a counter, and are the sum of the metric without it. */
const SUMS = ['nodejs_active_resources_total', 'nodejs_active_handles_total', 'nodejs_active_requests_total'];

/** The numbers of this instance. */
export interface InstanceState {
  /** It advances the schedules of the fleet. */
  readonly leads: boolean;
  /** Since its start. */
  readonly droppedLogLines: number;
  /** In the card cache, since its start. */
  readonly cardLookups: { readonly hits: number; readonly misses: number };
}

export class OwnNumbers {
  readonly #registry = new Registry();
  /** The instruments have a separate registry, because they count before the server is open. */
  readonly #registries: readonly Registry[];

  constructor(instance: () => InstanceState, instruments: Instruments) {
    this.#registries = [this.#registry, instruments.registry];
    collectDefaultMetrics({ prefix: PREFIX, register: this.#registry });
    for (const name of SUMS) this.#registry.removeSingleMetric(`${PREFIX}${name}`);
    new Gauge({
      name: `${PREFIX}leader`,
      help: '1 while this instance advances the schedules',
      registers: [this.#registry],
      collect() {
        this.set(instance().leads ? 1 : 0);
      },
    });
    this.#count('card_cache_lookups_total', 'Look-ups of this instance in the card cache', ['result'], () => {
      const { hits, misses } = instance().cardLookups;
      return [
        [{ result: 'hit' }, hits],
        [{ result: 'miss' }, misses],
      ];
    });
    this.#count('log_lines_dropped_total', 'Log lines this instance could not write', [], () => [
      [{}, instance().droppedLogLines],
    ]);
  }

  /** @param read the counts since the start of the instance, by label */
  #count(
    name: string,
    help: string,
    labelNames: readonly string[],
    read: () => ReadonlyArray<readonly [labels: Record<string, string>, count: number]>,
  ): void {
    new Counter({
      name: `${PREFIX}${name}`,
      help,
      labelNames,
      registers: [this.#registry],
      collect() {
        this.reset();
        for (const [labels, count] of read()) this.inc(labels, count);
      },
    });
  }

  /** The exposition text. */
  async text(): Promise<string> {
    return (await Promise.all(this.#registries.map((registry) => registry.metrics()))).join('\n');
  }
}
