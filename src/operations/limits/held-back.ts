// What holds the polling of a task type back, in a few words: an open breaker or a pause. Used by the health reasons and
// the capacity, which cannot be computed meanwhile. Pure.
import { WHOLE_GATEWAY } from '../../domain/gateway-interface.ts';

interface HeldBy {
  readonly breakers: ReadonlyArray<{ readonly name: string; readonly isOpen: boolean }>;
  readonly pauses: readonly unknown[];
}

/** @returns null: nothing holds it back. */
export function heldBackBy({ breakers, pauses }: HeldBy): string | null {
  const worst = breakers.find(({ isOpen }) => isOpen) ?? breakers[0];
  if (worst !== undefined) return breakerWords(worst);
  return pauses.length === 0 ? null : 'polling is paused';
}

export function breakerWords({ name, isOpen }: HeldBy['breakers'][number]): string {
  return `${name === WHOLE_GATEWAY ? 'the gateway' : `interface ${name}`} is ${isOpen ? 'dead' : 'recovering'}`;
}
