// Refuses impossible requests: numbers out of bounds, interfaces that the gateway does not offer, unknown cards, and changes of
// an object that has changed since its client read it. A client may name the version that it has read: in the admin API a version
// is an ETag. The schemas of the API refuse errors that a single field shows.
import { createHash } from 'node:crypto';
import { type InterfaceName, notOfferedWords, type Offers } from '../domain/gateway-interface.ts';
import { CardpollError } from '../platform/errors.ts';
import { snakeCase } from '../platform/snake-keys.ts';
import type { CardRecords } from '../store/ports/records/card-records.ts';

export interface Bounds {
  readonly min: number;
  readonly max: number;
}

export function wholeNumberWithin({ min, max }: Bounds): string {
  return `must be a whole number from ${min} to ${max}`;
}

export function isWithin({ min, max }: Bounds, value: number): boolean {
  return Number.isInteger(value) && value >= min && value <= max;
}

/** @throws CardpollError `conflict`. */
export function requireOffered(offers: Offers, name: InterfaceName): void {
  if (offers(name)) return;
  throw new CardpollError('conflict', 'not_offered', notOfferedWords(name), {
    hint: `if the gateway has such a call, describe it in gateway.interfaces.${name}`,
  });
}

/** @param cardIdOrIccid digits; 18 or more are an iccid. @throws CardpollError `not_found`. */
export async function findCard(cards: Pick<CardRecords, 'find'>, cardIdOrIccid: string) {
  const card = await cards.find(cardIdOrIccid);
  if (card === null) {
    throw new CardpollError('not_found', 'card_not_found', `there is no card ${cardIdOrIccid}`);
  }
  return card;
}

export type CardList = readonly number[];

export function wrongCards(field: string, message: string): CardpollError {
  return new CardpollError('invalid', 'invalid_field', `${snakeCase(field)} ${message}`, {
    fields: [{ field, message }],
  });
}

/** One of these versions, `any` for any existing object, or null without a condition. */
export type ExpectedVersion = readonly string[] | 'any' | null;

const VERSION_LENGTH = 22;

/** @returns equal versions for equal state. @param state all changeable fields, as plain data. */
export function versionOf(state: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(state)).digest('base64url').slice(0, VERSION_LENGTH);
}

/** @throws CardpollError `conflict` when the object has changed since. */
export function requireVersion(present: string, expected: ExpectedVersion): void {
  if (expected === null || expected === 'any' || expected.includes(present)) return;
  throw new CardpollError('conflict', VERSION_CHANGED, 'it does not have the version in If-Match', {
    hint: 'it has been changed: read it again, and send its new ETag',
  });
}

export const VERSION_CHANGED = 'version_changed';
