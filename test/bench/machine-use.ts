// Who had the cores of the machine while a bench measured, and so what bounds its number: a rate alone does not tell a
// product that is slow from a machine that is busy. Linux; used by processes.ts.
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { cpuSeconds } from './stack.ts';

const CLOCK_TICKS_A_SECOND = 100;
/** From this share of a core on a thread is taken for full. */
const FULL = 0.9;
/** Less than this share of all cores left over: whoever wants more gets none. */
const NOTHING_LEFT = 0.07;

/** A part of the bench: its process and how many threads it can keep busy. */
export interface Part {
  readonly pid: number;
  /** 0: as many as there are. */
  readonly threads: number;
}

export interface MachineUse {
  /** Cores each part had, on average. */
  readonly cores: Readonly<Record<string, number>>;
  /** Cores that others had: other work on the machine, its kernel, and the machine's own host. */
  readonly others: number;
  readonly idle: number;
  /** One sentence. */
  readonly bound: string;
}

/** Begins to measure. @returns ends that. */
export function watchMachine(parts: Readonly<Record<string, Part>>): () => MachineUse {
  const look = () => ({
    atMs: performance.now(),
    idle: idleSeconds(),
    used: Object.entries(parts).map(([name, { pid }]) => [name, cpuSeconds(pid)] as const),
  });
  const before = look();
  return () => {
    const after = look();
    const seconds = (after.atMs - before.atMs) / 1_000;
    const from = new Map(before.used);
    const cores = Object.fromEntries(
      after.used.map(([name, used]) => [name, (used - (from.get(name) ?? 0)) / seconds]),
    );
    const idle = (after.idle - before.idle) / seconds;
    const ours = Object.values(cores).reduce((sum, one) => sum + one, 0);
    const others = Math.max(0, availableParallelism() - idle - ours);
    return { cores, others, idle, bound: boundOf(parts, cores, others, idle) };
  };
}

function boundOf(
  parts: Readonly<Record<string, Part>>,
  cores: Readonly<Record<string, number>>,
  others: number,
  idle: number,
): string {
  const full = Object.entries(parts).filter(
    ([name, { threads }]) => threads > 0 && (cores[name] ?? 0) >= FULL * threads,
  );
  if (full.length > 0) return `the threads of ${full.map(([name]) => name).join(' and ')}`;
  const all = availableParallelism();
  if (idle >= NOTHING_LEFT * all) return 'neither a full thread nor the cores: limits in force, or waiting';
  return `the ${all} cores, of which others had ${others.toFixed(1)}`;
}

/** Of all cores since the machine started, waiting for disks included. */
function idleSeconds(): number {
  const [, , , , idle = 0, waiting = 0] = readFileSync('/proc/stat', 'utf8').split(/\s+/, 6).map(Number);
  return (idle + waiting) / CLOCK_TICKS_A_SECOND;
}
