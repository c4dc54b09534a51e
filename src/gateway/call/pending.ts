// Reads from an answer whether the vendor still works on a call with an effect, as the profile describes it (`pending`,
// docs/gateways.md). Used by answer.ts, which knows the card of the answer. Pure.
import type { Code, PendingRule, Reading } from '../../domain/gateway/gateway-config.ts';
import { valueAt } from '../../domain/gateway/profile-syntax.ts';
import { placeOf, valuePlaces } from './reading.ts';

/** @returns the code that means pending, in an answer or in an item of its list; undefined: none. */
export type PendingIn = (item: unknown) => Code | undefined;

/** @param reading null: the call has an effect, or a module reads it. */
export function pendingIn(rule: PendingRule | null, reading: Reading | null): PendingIn {
  const { path, values } = rule ?? { path: null, values: [] };
  const place = path === null ? (reading === null ? undefined : valuePlaces(reading)[0]) : placeOf(path);
  if (place === undefined) return () => undefined;
  return (item) => {
    const said = valueAt(item, place.path);
    return values.find((value) => value === said);
  };
}

/** True when the status, or every success, means that a call with an effect is accepted and not carried out yet. */
export function isTakenOnly({ path }: PendingRule, status: number): boolean {
  return path === null || status === 202;
}
