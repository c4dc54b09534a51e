#!/usr/bin/env -S node --max-semi-space-size=32
// The entry of the binary. It refuses what cannot work (refusals.js), and calls src/main.ts. It must parse on the Nodes that it refuses.

import('./refusals.js').then(({ importRefusal, nodeRefusal, refuse }) => {
  const refusal = nodeRefusal(process.version);
  if (refusal !== null) return refuse(refusal);
  return import('../dist/main.js').then(
    ({ main }) => main(),
    (error) => refuse(importRefusal(error)),
  );
});
