// The metrics of one process, as opposed to those of the fleet: its memory and event loop, whether it leads, the log lines
// it lost, and what it counted and timed. metrics.ts serves them; a process that serves nothing itself hands them over to
// the one that does, which distinguishes them by the label `process` (0 to one less than the number of processes).
import { AggregatorRegistry, Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import type { TaskType } from '../../domain/task-type.ts';
import { type Instruments, PREFIX } from './instruments.ts';

/** The numbers of this instance. */
export interface InstanceState {
  /** It advances the schedules of the fleet. */
  readonly leads: boolean;
  /** Since its start. */
  readonly droppedLogLines: number;
  /** In the card cache, since its start. */
  readonly cardLookups: { readonly hits: number; readonly misses: number };
  /** What it took from the work queue and gave back, since its start. */
  readonly work: readonly WorkTotals[];
}

interface WorkTotals {
  readonly taskType: TaskType;
  /** By lane. */
  readonly claimed: Readonly<Record<string, number>>;
  /** By verdict. */
  readonly settled: Readonly<Record<string, number>>;
  readonly fenced: number;
}

export class OwnNumbers {
  readonly #registry = new Registry();
  /** The instruments have one of their own: they go on counting when a server tries the next port. */
  readonly #registries: readonly Registry[];

  /** @param process its number among several; null where it is the only one. */
  constructor(instance: () => InstanceState, instruments: Instruments, process: number | null) {
    const registers = [this.#registry];
    this.#registries = [this.#registry, instruments.registry];
    if (process !== null) {
      for (const registry of this.#registries) registry.setDefaultLabels({ process: String(process) });
    }
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
    this.#countWork(() => instance().work);
  }

  #countWork(work: () => readonly WorkTotals[]): void {
    const registers = [this.#registry];
    new Counter({
      name: `${PREFIX}claims_total`,
      help: 'Work this instance claimed',
      labelNames: ['task_type', 'lane'],
      registers,
      collect() {
        this.reset();
        for (const { taskType: task_type, claimed } of work())
          for (const [lane, count] of Object.entries(claimed)) this.inc({ task_type, lane }, count);
      },
    });
    new Counter({
      name: `${PREFIX}settlements_total`,
      help: 'Work this instance settled',
      labelNames: ['task_type', 'verdict'],
      registers,
      collect() {
        this.reset();
        for (const { taskType: task_type, settled } of work())
          for (const [verdict, count] of Object.entries(settled)) this.inc({ task_type, verdict }, count);
      },
    });
    new Counter({
      name: `${PREFIX}fenced_total`,
      help: 'Results of this instance that came after their lease was over',
      labelNames: ['task_type'],
      registers,
      collect() {
        this.reset();
        for (const { taskType: task_type, fenced } of work()) this.inc({ task_type }, fenced);
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
