// Checks which card an answer is about. Some gateways filter by parts of a number and answer about a neighbour, so an answer that
// names another card than the requested one is not read. The profile names the place of the number, or it is in a field `iccid`
// near the value. Pure.
import { iccidDigits, spellingsOf } from '../../domain/cards/iccid.ts';
import { type ValuePath, valueAt } from '../../domain/gateway/profile-syntax.ts';
import { groupBy } from '../../domain/group-by.ts';
import { GatewayError } from '../gateway.ts';
import type { Place } from './reading.ts';

/** @returns whether the answer names the requested card. @throws GatewayError `malformed`: it names another one. */
export type CardCheck = (body: unknown, asked: string) => boolean;

/** @param stated place of the number in the profile. @param value place of the value; empty: nothing is read. */
export function cardCheck(stated: Place | null, value: ValuePath): CardCheck {
  return (body, asked) => {
    if (stated === null) return isAmong(namedNear(body, value), asked);
    const raw = valueAt(body, stated.path) ?? null;
    if (raw === null) throw new GatewayError('malformed', `${stated.name} is missing: whose answer is it?`);
    return isAmong([numberOf(raw)], asked);
  };
}

/** @returns whether one of the numbers is the requested card's; false: no numbers. */
export function isAmong(numbers: readonly string[], asked: string): boolean {
  const [first] = numbers;
  if (first === undefined) return false;
  if (numbers.includes(asked)) return true;
  const own = spellingsOf(asked);
  if (numbers.some((number) => own.includes(number))) return true;
  throw new GatewayError('malformed', `the answer is about another card: ${first}`);
}

/** @returns the items of a card; undefined: the list has none. */
export function itemsByCard(
  list: readonly unknown[],
  iccid: Place,
): (asked: string) => unknown[] | undefined {
  const items = groupBy(list, (item) => numberOf(valueAt(item, iccid.path)));
  return (asked) => {
    // Nearly always the number is spelled as requested; other spellings cost time to derive.
    const own = items.has(asked) ? asked : spellingsOf(asked).find((spelling) => items.has(spelling));
    return own === undefined ? undefined : items.get(own);
  };
}

function numberOf(raw: unknown): string {
  return iccidDigits(raw) ?? String(raw);
}

/** @returns the numbers next to the value, or next to its container; otherwise those at the top of the answer. */
function namedNear(body: unknown, path: ValuePath): readonly string[] {
  for (let depth = path.length - 1; depth > 0; depth -= 1) {
    const named = iccidsOf(valueAt(body, path.slice(0, depth)));
    if (named.length > 0) return named;
  }
  const named = iccidsOf(body);
  if (named.length > 0 || typeof body !== 'object' || body === null || Array.isArray(body)) return named;
  return Object.values(body).flatMap(iccidsOf);
}

const ICCID_NAME = /^icc[_-]?id$/i;

function iccidsOf(holder: unknown): readonly string[] {
  if (typeof holder !== 'object' || holder === null || Array.isArray(holder)) return [];
  const named = Object.keys(holder).filter((name) => ICCID_NAME.test(name));
  return named.flatMap((name) => iccidDigits((holder as Record<string, unknown>)[name]) ?? []);
}
