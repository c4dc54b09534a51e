// The metrics of one process, as opposed to those of the fleet: its memory and event loop, whether it leads, the log lines
// it lost, and what it counted and timed. metrics.ts serves them; a process that serves nothing itself hands them over to
// the one that does, which distinguishes them by the label `process` (0 to one less than the number of processes).
import { AggregatorRegistry, Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { type Instruments, PREFIX } from './instruments.ts';

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
  /** The instruments have one of their own: they go on counting when a server tries the next port. */
  readonly #registries: readonly Registry[];

  /** @param process its number among several; null where it is the only one. */
  constructor(instance: () => InstanceState, instruments: Instruments, process: number | null) {
    this.#registries = [this.#registry, instruments.registry];
    if (process !== null) {
      for (const registry of this.#registries) registry.setDefaultLabels({ process: String(process) });
    }
    collectDefaultMetrics({ prefix: PREFIX, register: this.#registry });
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

  /** In the JSON form of prom-client, to be sent to another process. */
  async json(): Promise<object[]> {
    const metrics = await Promise.all(this.#registries.map((registry) => registry.getMetricsAsJSON()));
    return metrics.flat();
  }

  /** The exposition text. @param others what json() gave in other processes. */
  async text(others: readonly (readonly object[])[]): Promise<string> {
    if (others.length === 0) {
      const texts = await Promise.all(this.#registries.map((registry) => registry.metrics()));
      return texts.join('\n');
    }
    // Each has a label of its own, so nothing is added up; by default some would be averaged or left out.
    const all = [await this.json(), ...others].map((one) =>
      one.map((metric) => ({ ...metric, aggregator: 'sum' })),
    );
    return AggregatorRegistry.aggregate(all).metrics();
  }
}
