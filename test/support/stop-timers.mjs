// Loaded into a daemon before its own code (node --import): from the moment the file named by STOP_TIMERS exists no timeout
// fires any more, so every loop that rests is stuck for good while the process lives on.
import { existsSync } from 'node:fs';

const set = globalThis.setTimeout;
globalThis.setTimeout = Object.assign((callback, ms, ...args) => {
  const stopped = () => existsSync(process.env.STOP_TIMERS);
  return set(() => stopped() || callback(...args), ms);
}, set);
