// Scenario `overload` of the flow bench: adaptive concurrency of the whole product (daemon, real Redis, real PostgreSQL)
// against a gateway with a hidden capacity: beyond it calls take longer, beyond twice of it they are refused. The capacity
// drops to a third and comes back. Compared with the best fixed limit, searched for each capacity with the adaptive part
// off, and with the configured limit alone.
//
//   npm run bench:flow -- --only overload [--capacity 60] [--latency 100] [--phase 40] [--limit 100]
//
// The daemon has polled for some seconds when measuring begins. What is counted is counted at the gateway's own side. A phase's share is of its whole length, the time to adapt
// included; settled is its second half.
import { TASK_TYPES } from '../../../src/domain/task-type.ts';
import { type Simulator, startSimulator } from '../../../src/gateway/simulate/simulator.ts';
import { elapsed } from '../../support/wait-for.ts';
import { getJson, putJson, type RunningBinary, Stack } from '../stack.ts';
import { perSecond, printTable } from '../table.ts';
import type { FlowOptions, OverloadOptions } from './options.ts';

const CARDS = 10_000;
/** Polls that come due, in multiples of what the gateway bears: supply is never the limit. */
const SUPPLY = 3;
/** Fixed limits that are tried, in multiples of the capacity. */
const TRIED = [0.5, 1, 1.25, 1.5, 1.9];
const TRY_MS = 4_000;
const SETTLE_MS = 2_500;
const FIXED_PHASE_MS = 6_000;
/** A daemon that has just begun reads every card for the first time. */
const WARM_UP_MS = 12_000;
/** Adapted: this much of the best fixed limit's rate, over a window. */
const ADAPTED = 0.9;
const SAMPLE_MS = 500;
const WINDOW_SAMPLES = 4;

interface Sample {
  readonly atMs: number;
  readonly answered: number;
  readonly rejected: number;
}

interface Phase {
  readonly name: string;
  readonly best: number;
  readonly rate: number;
  readonly settledRate: number;
  readonly rejectedPercent: number;
  /** null: it did not. */
  readonly adaptSeconds: number | null;
}

/** Prints its own tables. @returns what it says in the last line of the bench. */
export async function measureOverload(flow: FlowOptions): Promise<Record<string, unknown>> {
  const { instances, redis, overload: options } = flow;
  const stack = await Stack.start(redis);
  const gateway = await startSimulator({
    host: '127.0.0.1',
    port: 0,
    latencyMs: options.latencyMs,
    capacity: options.capacity,
  });
  try {
    await stack.insertCards(CARDS);
    return await measure(stack, gateway, instances, options);
  } finally {
    await gateway.close();
    await stack.stop();
  }
}

async function measure(
  stack: Stack,
  gateway: Simulator,
  instances: number,
  options: OverloadOptions,
): Promise<Record<string, unknown>> {
  const start = (adaptive: 'on' | 'off') => startDaemons(stack, gateway, instances, options, adaptive);
  const third = Math.round(options.capacity / 3);
  const capacities: ReadonlyArray<readonly [string, number]> = [
    ['full', options.capacity],
    ['a third', third],
    ['full again', options.capacity],
  ];
  let daemon = await start('off');
  const best = new Map<number, number>();
  for (const capacity of [options.capacity, third]) {
    best.set(capacity, await bestFixed(daemon, gateway, capacity));
  }
  const phases = async (phaseMs: number) => {
    const measured: Phase[] = [];
    for (const [name, capacity] of capacities) {
      measured.push(await measurePhase(gateway, name, capacity, best.get(capacity) ?? 0, phaseMs));
    }
    return measured;
  };
  await setLimits(daemon, options.limit);
  const fixed = await phases(FIXED_PHASE_MS);
  await daemon.stop();

  gateway.setCapacity(options.capacity);
  daemon = await start('on');
  const adaptive = await phases(options.phaseMs);
  const curves = await getJson<{ items: Array<{ task_type: string; curve: unknown[] }> }>(
    `${daemon.url}/api/admin/polling-concurrency`,
  );
  await daemon.stop();
  process.stderr.write(`levels measured: ${curves.items.map((item) => item.curve.length).join(', ')}\n`);
  return report(adaptive, fixed, options);
}

async function startDaemons(
  stack: Stack,
  gateway: Simulator,
  instances: number,
  { capacity, latencyMs, limit }: OverloadOptions,
  adaptive: 'on' | 'off',
): Promise<RunningBinary> {
  const daemon = await stack.startInstances(instances, gateway.url, {
    CARDPOLL_ADAPTIVE_CONCURRENCY: adaptive,
    CARDPOLL_LOG_LEVEL: 'info',
    CARDPOLL_QUEUE_CAP: '5000',
  });
  await setLimits(daemon, limit);
  const dueASecond = (SUPPLY * capacity * 1_000) / latencyMs;
  const intervalSeconds = Math.max(1, Math.floor((CARDS * TASK_TYPES.length) / dueASecond));
  for (const id of [1, 2, 3, 4]) {
    await putJson(`${daemon.url}/api/admin/polling-configs/${id}`, { interval_seconds: intervalSeconds });
  }
  await elapsed(WARM_UP_MS);
  return daemon;
}

async function setLimits(daemon: RunningBinary, limit: number): Promise<void> {
  for (const type of TASK_TYPES) {
    await putJson(`${daemon.url}/api/admin/polling-concurrency/${type}`, { max_concurrency: limit });
  }
}

/** @returns answered calls a second with the best of the fixed limits that are tried. */
async function bestFixed(daemon: RunningBinary, gateway: Simulator, capacity: number): Promise<number> {
  gateway.setCapacity(capacity);
  let best = 0;
  for (const share of TRIED) {
    await setLimits(daemon, Math.max(1, Math.floor((share * capacity) / TASK_TYPES.length)));
    await elapsed(SETTLE_MS);
    const from = sampleOf(gateway);
    await elapsed(TRY_MS);
    const rate = rateOf(from, sampleOf(gateway));
    process.stderr.write(`capacity ${capacity}, fixed limit ${share} of it: ${perSecond(rate)} a second\n`);
    best = Math.max(best, rate);
  }
  return best;
}

async function measurePhase(
  gateway: Simulator,
  name: string,
  capacity: number,
  best: number,
  phaseMs: number,
): Promise<Phase> {
  gateway.setCapacity(capacity);
  const samples = [sampleOf(gateway)];
  const first = samples[0] as Sample;
  while ((samples.at(-1) as Sample).atMs - first.atMs < phaseMs) {
    await elapsed(SAMPLE_MS);
    samples.push(sampleOf(gateway));
  }
  const last = samples.at(-1) as Sample;
  const middle = samples[Math.floor(samples.length / 2)] as Sample;
  const adapted = samples.find((sample, i) => {
    const ahead = samples[i + WINDOW_SAMPLES];
    return (
      ahead !== undefined && rateOf(sample, ahead) >= ADAPTED * best && ahead.rejected === sample.rejected
    );
  });
  const rejected = last.rejected - first.rejected;
  const phase = {
    name,
    best,
    rate: rateOf(first, last),
    settledRate: rateOf(middle, last),
    rejectedPercent: (100 * rejected) / (rejected + last.answered - first.answered),
    adaptSeconds: adapted === undefined ? null : (adapted.atMs - first.atMs) / 1_000,
  };
  process.stderr.write(
    `${name}: ${perSecond(phase.rate)} a second, ${phase.rejectedPercent.toFixed(2)} % refused\n`,
  );
  return phase;
}

function report(
  adaptive: readonly Phase[],
  fixed: readonly Phase[],
  options: OverloadOptions,
): Record<string, unknown> {
  const rows = (title: string, phases: readonly Phase[]) =>
    phases.map((phase) => [
      `${title}, capacity ${phase.name}`,
      perSecond(phase.best),
      perSecond(phase.rate),
      (phase.rate / phase.best).toFixed(2),
      (phase.settledRate / phase.best).toFixed(2),
      `${phase.rejectedPercent.toFixed(2)} %`,
      phase.adaptSeconds === null ? 'never' : `${phase.adaptSeconds.toFixed(1)} s`,
    ]);
  printTable(
    ['', 'best fixed/s', 'polls/s', 'ratio', 'settled', 'refused', 'adapted after'],
    [...rows('adaptive', adaptive), ...rows(`fixed ${options.limit}`, fixed)],
  );
  const ratios = (phases: readonly Phase[]) =>
    phases.map((phase) => Number((phase.rate / phase.best).toFixed(3)));
  const total = (phases: readonly Phase[]) => {
    const calls = phases.reduce((sum, phase) => sum + phase.rate, 0);
    const refused = phases.reduce((sum, { rate, rejectedPercent: p }) => sum + (rate * p) / (100 - p), 0);
    return Number(((100 * refused) / (calls + refused)).toFixed(2));
  };
  return {
    capacity: options.capacity,
    ratios: ratios(adaptive),
    refused_percent: total(adaptive),
    seconds_to_adapt: adaptive.map((phase) => phase.adaptSeconds),
    fixed_ratios: ratios(fixed),
    fixed_refused_percent: total(fixed),
  };
}

function sampleOf(gateway: Simulator): Sample {
  const { requests, rejected, inFlight } = gateway.stats();
  return { atMs: performance.now(), answered: requests - rejected - inFlight, rejected };
}

function rateOf(from: Sample, to: Sample): number {
  return (to.answered - from.answered) / ((to.atMs - from.atMs) / 1_000);
}
