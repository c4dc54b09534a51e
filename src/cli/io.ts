// The process that a command runs in. main.ts makes the real one; tests make their own.
import type { Readable, Writable } from 'node:stream';
import type { Clock } from '../platform/clock.ts';

export interface Io {
  readonly stdin: Readable & { readonly isTTY?: boolean };
  readonly stdout: Writable & { readonly isTTY?: boolean; readonly columns?: number; readonly rows?: number };
  readonly stderr: Writable & { readonly isTTY?: boolean; readonly columns?: number };
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  /**
   * Takes over Ctrl-C, SIGTERM and the closing of stdout from the system. From then on they abort the signal, with an
   * Interruption as reason. Commands that run a daemon do not call it.
   */
  onInterrupt(): AbortSignal;
}

/** Why a command was ended from outside. Nothing is printed for it. */
export class Interruption extends Error {
  override readonly name = 'Interruption';
  constructor(readonly exitCode: number) {
    super('interrupted');
  }
}
