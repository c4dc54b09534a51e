// Process signals, for the composition root alone.

/** Installs handlers. @returns the function that removes them. */
export function onSignals(handlers: Partial<Record<NodeJS.Signals, () => void>>): () => void {
  const entries = Object.entries(handlers) as Array<[NodeJS.Signals, () => void]>;
  for (const [signal, handler] of entries) process.on(signal, handler);
  return () => {
    for (const [signal, handler] of entries) process.off(signal, handler);
  };
}

/**
 * Resolves with the first SIGTERM or SIGINT. From then on these signals have their default effect again: a second
 * one ends the process at once.
 */
export function untilStopped(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    const remove = onSignals({ SIGTERM: () => stop('SIGTERM'), SIGINT: () => stop('SIGINT') });
    const stop = (signal: NodeJS.Signals) => {
      remove();
      resolve(signal);
    };
  });
}
