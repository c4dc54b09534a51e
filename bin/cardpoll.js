#!/usr/bin/env -S node --max-semi-space-size=32
// The entry of the binary. It listens for signals before anything is loaded, refuses what cannot work (refusals.js), and calls
// src/main.ts. It must parse on the Nodes that it refuses. The first line gives young objects 32 MiB instead of 16: with batches of
// 100, garbage collection took 18 % of the daemon's time. A card takes 32 microseconds of CPU time instead of 37 to 42.

// Without a listener Node opens its inspector on a port.
process.on('SIGUSR1', () => {});
// A log rotation may be faster than the start of a daemon. src/signals.ts says how this is served.
const hangups = {
  came: false,
  serve: () => {
    hangups.came = true;
  },
};
// In other commands SIGHUP ends the process: their terminal is gone.
if (process.argv.includes('daemon')) process.on('SIGHUP', () => hangups.serve());

import('./refusals.js').then(({ importRefusal, nodeRefusal, refuse }) => {
  const refusal = nodeRefusal(process.version);
  if (refusal !== null) return refuse(refusal);
  return import('../dist/main.js').then(
    ({ main }) => main(hangups),
    (error) => refuse(importRefusal(error)),
  );
});
