// The arguments of `npm run prove`.
import { parseArgs } from 'node:util';
import type { StoreKind } from './live/world-live.ts';

export interface ProveOptions {
  readonly seeds: number;
  readonly minutes: number;
  readonly instances: number;
  readonly cards: number;
  readonly from: number;
  /** The live store. */
  readonly store: StoreKind;
  readonly faults: readonly number[] | null;
  /** Ends with the first failure, as it is: nothing is left out of it. */
  readonly first: boolean;
}

const BOUNDS = {
  seeds: { min: 1, max: 100_000, is: 'how many seeds' },
  minutes: { min: 1, max: 1_440, is: 'virtual minutes of each seed' },
  instances: { min: 1, max: 10, is: 'instances of each world' },
  cards: { min: 1, max: 2_000, is: 'cards of each world' },
  from: { min: 1, max: 2 ** 31, is: 'the first seed' },
} as const;

/**
 * @param stores that may be asked for, the usual one first
 * @returns a sentence where they cannot be read.
 */
export function readOptions(
  args: readonly string[],
  defaults: Readonly<Record<Exclude<keyof typeof BOUNDS, 'from'>, number>>,
  stores: readonly [StoreKind, ...StoreKind[]],
): ProveOptions | string {
  const options = {
    ...Object.fromEntries(Object.keys(BOUNDS).map((name) => [name, { type: 'string' as const }])),
    store: { type: 'string' as const },
    faults: { type: 'string' as const },
    first: { type: 'boolean' as const },
  };
  let given: Record<string, string | boolean | undefined>;
  try {
    given = parseArgs({ args: [...args], options, strict: true }).values as Record<
      string,
      string | undefined
    >;
  } catch (error) {
    return `${(error as Error).message.split('\n')[0]}; options: ${Object.entries(BOUNDS)
      .map(([name, { is }]) => `--${name} (${is})`)
      .join(', ')}, --store (${stores.join(' or ')})`;
  }
  const numbers: Record<string, number> = {};
  const usual: Readonly<Record<string, number>> = { ...defaults, from: 1 };
  for (const [name, { min, max }] of Object.entries(BOUNDS)) {
    const text = given[name] as string | undefined;
    const value =
      text === undefined ? (usual[name] ?? 1) : /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
    if (!(value >= min && value <= max))
      return `--${name} takes a whole number from ${min} to ${max}, not "${text}"`;
    numbers[name] = value;
  }
  const { store = stores[0] } = given;
  const live = stores.find((one) => one === store);
  if (live === undefined) return `--store takes ${stores.join(' or ')}, not "${store}"`;
  const faults = given.faults as string | undefined;
  if (faults !== undefined && !/^(none|\d+(,\d+)*)$/.test(faults))
    return '--faults takes numbers of faults, with commas, or none';
  const chosen = faults === undefined ? null : faults === 'none' ? [] : faults.split(',').map(Number);
  return {
    ...(numbers as unknown as Omit<ProveOptions, 'store' | 'faults' | 'first'>),
    store: live,
    faults: chosen,
    first: given.first === true,
  };
}
