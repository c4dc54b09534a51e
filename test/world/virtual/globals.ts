// What a process has of time and chance, made the world's: Date.now (by which PGlite tells now() and clock_timestamp()), timers, random
// bytes and ids, and the requests of webhooks. Only for a process that does nothing else.
import crypto from 'node:crypto';
import http from 'node:http';
import { syncBuiltinESMExports } from 'node:module';
import type { Random } from './random.ts';
import type { VirtualTime } from './time.ts';

export interface World {
  readonly time: VirtualTime;
  readonly random: Random;
  /** Of the record store, epoch milliseconds. */
  readonly storeNow: () => number;
  readonly request: typeof http.request;
}

let world: World | null = null;
const realNow = Date.now.bind(Date);
const realTimer = setTimeout;

/** Not of the world: for the speed of a run, and for its bounds. */
export const reality = { now: () => performance.timeOrigin + realPerformance(), timer: realTimer };
const realPerformance = performance.now.bind(performance);

/** From now on this world is the process' own; null: none. */
export function enter(entered: World | null): void {
  world = entered;
}

class Timer {
  #cancel: () => void = () => {};
  constructor(
    private readonly run: () => void,
    private readonly ms: number,
    private readonly repeats: boolean,
  ) {
    this.refresh();
  }
  refresh(): this {
    this.clear();
    this.#cancel =
      world?.time.after(this.ms, () => {
        if (this.repeats) this.refresh();
        this.run();
      }) ?? (() => {});
    return this;
  }
  clear(): void {
    this.#cancel();
  }
  ref = () => this;
  unref = () => this;
  hasRef = () => true;
}

/** Once for a process. */
export function takeGlobals(): void {
  const timer =
    (repeats: boolean, real: typeof setTimeout) =>
    (run: (...args: unknown[]) => void, ms = 0, ...args: unknown[]): unknown =>
      world === null ? real(run, ms, ...args) : new Timer(() => run(...args), ms, repeats);
  const clear = (real: typeof clearTimeout) => (one: unknown) =>
    one instanceof Timer ? one.clear() : real(one as NodeJS.Timeout);
  Object.assign(globalThis, {
    setTimeout: timer(false, setTimeout),
    setInterval: timer(true, setInterval as typeof setTimeout),
    clearTimeout: clear(clearTimeout),
    clearInterval: clear(clearInterval),
  });
  Date.now = () => world?.storeNow() ?? realNow();
  performance.now = () => world?.time.now ?? realPerformance();
  AbortSignal.timeout = (ms) => {
    const controller = new AbortController();
    world?.time.after(ms, () => controller.abort(new DOMException('timed out', 'TimeoutError')));
    return controller.signal;
  };
  const { random, randomBytes, randomFillSync } = { ...crypto, random: Math.random };
  const bytes = (count: number) => world?.random.bytes(count) ?? randomBytes(count);
  Math.random = () => world?.random.next() ?? random();
  const realRequest = http.request;
  Object.assign(http, {
    request: (...args: Parameters<typeof http.request>) => (world?.request ?? realRequest)(...args),
  });
  Object.assign(crypto, {
    randomBytes: bytes,
    randomUUID: () =>
      bytes(16)
        .toString('hex')
        .replace(/^(.{8})(.{4}).(.{3}).(.{3})/, '$1-$2-4$3-a$4-'),
    randomFillSync: (into: Uint8Array) => {
      if (world === null) return randomFillSync(into);
      into.set(bytes(into.length));
      return into;
    },
  });
  syncBuiltinESMExports();
}
