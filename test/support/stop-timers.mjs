// Loaded into a daemon before its own code (node --import): from the moment the file named by STOP_TIMERS exists no timeout
// fires any more, so every loop that rests is stuck for good while the process lives on.
import { existsSync } from 'node:fs';

const flag = process.env.STOP_TIMERS ?? '';
const set = globalThis.setTimeout;
/** @type {(callback: (...args: unknown[]) => void, ms?: number, ...args: unknown[]) => NodeJS.Timeout} */
const mayNeverFire = (callback, ms, ...args) => set(() => existsSync(flag) || callback(...args), ms);
globalThis.setTimeout = Object.assign(mayNeverFire, set);
