// The words of `npm run bench:flow`, taken apart. Used by the entry of the flow bench and its scenarios.
import { parseArgs } from 'node:util';

export interface FlowOptions {
  /** Daemons against the same stores; the later ones are workers only. */
  readonly instances: number;
  readonly redis: 'standalone' | 'cluster';
  /** Runs at a time. */
  readonly atOnce: number;
  /** Names of scenarios. null: all; so with the lists below. */
  readonly only: readonly string[] | null;
  /** How calls fail, of the names of FAILURES, or `carrier` and `halfway`. */
  readonly kinds: readonly string[] | null;
  /** Per cent of the cards or calls that fail. */
  readonly shares: readonly number[] | null;
  readonly limits: readonly number[] | null;
  /** One share for each kind. */
  readonly quick: boolean;
  readonly overload: OverloadOptions;
}

export interface OverloadOptions {
  readonly capacity: number;
  readonly latencyMs: number;
  readonly phaseMs: number;
  /** max_concurrency of each task type. */
  readonly limit: number;
}

export function readOptions(argv: string[]): FlowOptions {
  const { values } = parseArgs({
    args: argv,
    options: {
      instances: { type: 'string', default: '1' },
      redis: { type: 'string', default: 'standalone' },
      'at-once': { type: 'string', default: '1' },
      only: { type: 'string' },
      kinds: { type: 'string' },
      shares: { type: 'string' },
      limits: { type: 'string' },
      quick: { type: 'boolean', default: false },
      capacity: { type: 'string', default: '60' },
      latency: { type: 'string', default: '100' },
      phase: { type: 'string', default: '40' },
      limit: { type: 'string', default: '100' },
    },
  });
  if (values.redis !== 'standalone' && values.redis !== 'cluster') {
    throw new Error('--redis is standalone or cluster');
  }
  return {
    instances: Number(values.instances),
    redis: values.redis,
    atOnce: Number(values['at-once']),
    only: listOf(values.only),
    kinds: listOf(values.kinds),
    shares: listOf(values.shares)?.map(Number) ?? null,
    limits: listOf(values.limits)?.map(Number) ?? null,
    quick: values.quick,
    overload: {
      capacity: Number(values.capacity),
      latencyMs: Number(values.latency),
      phaseMs: Number(values.phase) * 1_000,
      limit: Number(values.limit),
    },
  };
}

/** Those of `all` that are wanted. With --quick and no list of them it is `quick` alone. */
export function chosen<T>(
  all: readonly T[],
  wanted: readonly T[] | null,
  quick: T | null = null,
): readonly T[] {
  if (wanted !== null) return all.filter((one) => wanted.includes(one));
  return quick === null ? all : [quick];
}

function listOf(text: string | undefined): readonly string[] | null {
  return text === undefined ? null : text.split(',').map((word) => word.trim());
}
