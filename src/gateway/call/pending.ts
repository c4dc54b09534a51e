// Whether an answer says that the vendor still works on a call with an effect, as the profile describes it (`pending`,
// docs/gateways.md). Used by answer.ts, which knows whose answer it is. Pure.
import type { Code, PendingRule, Reading } from '../../domain/gateway/gateway-config.ts';
import { valueAt } from '../../domain/gateway/profile-syntax.ts';
import { placeOf, valuePlaces } from './reading.ts';

/** @returns what says so in an answer, or in an item of its list; undefined: nothing does. */
export type PendingIn = (item: unknown) => Code | undefined;

/** @param reading null: of a call with an effect, or read by a module. */
export function pendingIn(rule: PendingRule | null, reading: Reading | null): PendingIn {
  const { path, values } = rule ?? { path: null, values: [] };
  const place = path === null ? (reading === null ? undefined : valuePlaces(reading)[0]) : placeOf(path);
  if (place === undefined) return () => undefined;
  return (item) => {
    const said = valueAt(item, place.path);
    return values.find((value) => value === said);
  };
}

/** By its status, or by every success, a call with an effect is taken and not carried out yet. */
export function isTakenOnly({ path }: PendingRule, status: number): boolean {
  return path === null || status === 202;
}
