// The metrics of one process, as opposed to those of the fleet: its memory and event loop, whether it leads, the log lines it
// lost, and what it counted and timed. metrics.ts serves them; a process that serves nothing itself hands them over to the one that does, which tells
// them apart by the label `process` (0 to one less than the number of processes).
import { AggregatorRegistry, Counter, collectDefaultMetrics, Gauge, type Registry } from 'prom-client';
import { type Instruments, PREFIX } from './instruments.ts';

/** What this instance knows of itself. */
export interface InstanceState {
  /** It advances the schedules of the fleet. */
  readonly leads: boolean;
  /** Since its start. */
  readonly droppedLogLines: number;
  /** In the card cache, since its start. */
  readonly cardLookups: { readonly hits: number; readonly misses: number };
}

export class OwnNumbers {
  readonly #registry: Registry;

  /** @param process its number among several; null where it is the only one. */
  constructor(instance: () => InstanceState, instruments: Instruments, process: number | null) {
    this.#registry = instruments.registry;
    const registers = [this.#registry];
    if (process !== null) this.#registry.setDefaultLabels({ process: String(process) });
    collectDefaultMetrics({ prefix: PREFIX, register: this.#registry });
    new Gauge({
      name: `${PREFIX}leader`,
      help: '1 while this instance advances the schedules',
      registers,
      collect() {
        this.set(instance().leads ? 1 : 0);
      },
    });
    new Counter({
      name: `${PREFIX}card_cache_lookups_total`,
      help: 'Look-ups of this instance in the card cache',
      labelNames: ['result'],
      registers,
      collect() {
        const { hits, misses } = instance().cardLookups;
        this.reset();
        this.inc({ result: 'hit' }, hits);
        this.inc({ result: 'miss' }, misses);
      },
    });
    new Counter({
      name: `${PREFIX}log_lines_dropped_total`,
      help: 'Log lines this instance could not write',
      registers,
      collect() {
        this.reset();
        this.inc(instance().droppedLogLines);
      },
    });
  }

  /** As prom-client has them, to be sent to another process. */
  json(): Promise<object[]> {
    return this.#registry.getMetricsAsJSON();
  }

  /** The exposition text. @param others what json() gave in other processes. */
  async text(others: readonly (readonly object[])[]): Promise<string> {
    if (others.length === 0) return this.#registry.metrics();
    // Each has a label of its own, so nothing is added up; by default some would be averaged or left out.
    const all = [await this.json(), ...others].map((one) =>
      one.map((metric) => ({ ...metric, aggregator: 'sum' })),
    );
    return AggregatorRegistry.aggregate(all).metrics();
  }
}
