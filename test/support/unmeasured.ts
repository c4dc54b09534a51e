// The load of a process that measures none: those of tests have a clock of their own.
import type { LoadReading } from '../../src/engine/stats/own-load.ts';

export const UNMEASURED: LoadReading = { loopDelayMs: null, cpuPercent: null, machinePercent: null };
