// Process signals, for the composition root alone.

/** Installs a handler. @returns the function that removes it. */
export function onSignal(signal: NodeJS.Signals, handler: () => void): () => void {
  process.on(signal, handler);
  return () => process.off(signal, handler);
}

/**
 * Resolves with the first SIGTERM or SIGINT. From then on these signals have their default effect again: a second
 * one ends the process at once.
 */
export function untilStopped(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    const stop = (signal: NodeJS.Signals) => {
      for (const remove of removers) remove();
      resolve(signal);
    };
    const removers = (['SIGTERM', 'SIGINT'] as const).map((signal) => onSignal(signal, () => stop(signal)));
  });
}
