// What processor time this process gets: how late its timers are, what it uses, and how busy the machine is. Read every two seconds by
// the heartbeat; all figures are of the time since the last reading.
import { cpus } from 'node:os';
import { monitorEventLoopDelay } from 'node:perf_hooks';

const RESOLUTION_MS = 20;
/** Readings that come sooner are answered with the last one. */
const LEAST_MS = 1_000;

/** As domain/stats/own-side.ts says. */
export interface LoadReading {
  readonly loopDelayMs: number | null;
  readonly cpuPercent: number | null;
  readonly machinePercent: number | null;
}

export class OwnLoad {
  readonly #delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  #last = { atMs: performance.now(), cpu: process.cpuUsage(), cores: coreTimes() };
  #reading: LoadReading = { loopDelayMs: null, cpuPercent: null, machinePercent: null };

  constructor() {
    this.#delays.enable();
  }

  read(): LoadReading {
    const atMs = performance.now();
    const spanMs = atMs - this.#last.atMs;
    if (spanMs < LEAST_MS) return this.#reading;
    const [cpu, cores, before] = [process.cpuUsage(), coreTimes(), this.#last];
    const usedMs = (cpu.user + cpu.system - before.cpu.user - before.cpu.system) / 1_000;
    const allMs = cores.all - before.cores.all;
    const delayMs = this.#delays.count === 0 ? null : this.#delays.mean / 1e6 - RESOLUTION_MS;
    this.#delays.reset();
    this.#last = { atMs, cpu, cores };
    this.#reading = {
      loopDelayMs: delayMs === null ? null : Math.max(0, Math.round(delayMs)),
      cpuPercent: Math.round((100 * usedMs) / spanMs),
      machinePercent: allMs <= 0 ? null : Math.round(100 * (1 - (cores.idle - before.cores.idle) / allMs)),
    };
    return this.#reading;
  }

  stop(): void {
    this.#delays.disable();
  }
}

/** Milliseconds of all cores since the start of the machine. */
function coreTimes(): { readonly idle: number; readonly all: number } {
  let [idle, all] = [0, 0];
  for (const { times } of cpus()) {
    idle += times.idle;
    all += times.user + times.nice + times.sys + times.idle + times.irq;
  }
  return { idle, all };
}
