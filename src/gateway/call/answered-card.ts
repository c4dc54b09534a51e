// Whose answer it is. Some gateways filter by parts of a number, and answer about a neighbour: an answer that names another card
// than the one asked for is not read. The profile says where the number is, or it is in a field `iccid` near the value. Pure.
import { iccidDigits, spellingsOf } from '../../domain/cards/iccid.ts';
import { type ValuePath, valueAt } from '../../domain/gateway/profile-syntax.ts';
import { groupBy } from '../../domain/group-by.ts';
import { GatewayError } from '../gateway.ts';
import type { Place } from './reading.ts';

/** @returns whether the answer names the card that was asked for. @throws GatewayError `malformed`: it names another one. */
export type CardCheck = (body: unknown, asked: string) => boolean;

/** @param stated where the profile says that the number is. @param value where the value is; empty: nothing is read. */
export function cardCheck(stated: Place | null, value: ValuePath): CardCheck {
  return (body, asked) => {
    if (stated === null) return isAmong(namedNear(body, value), asked);
    const raw = valueAt(body, stated.path) ?? null;
    if (raw === null) throw new GatewayError('malformed', `${stated.name} is missing: whose answer is it?`);
    return isAmong([numberOf(raw)], asked);
  };
}

/** @returns whether a number is that of the card that was asked for; false: there is none. */
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
    // As it was asked for, nearly always: the other spellings have to be worked out.
    const own = items.has(asked) ? asked : spellingsOf(asked).find((spelling) => items.has(spelling));
    return own === undefined ? undefined : items.get(own);
  };
}

function numberOf(raw: unknown): string {
  return iccidDigits(raw) ?? String(raw);
}

/** @returns the numbers next to the value, or next to what it is in; else those at the top of the answer. */
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
