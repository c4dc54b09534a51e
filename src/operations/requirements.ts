// Refuses what cannot be: numbers out of bounds, all fields in one error, with the same words in the API and the CLI; and what
// the gateway does not offer.

import { type InterfaceName, notOfferedWords, type Offers } from '../domain/gateway-interface.ts';
import { CardpollError } from '../platform/errors.ts';

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

/** @throws CardpollError `invalid`, which names each field that is not a whole number within the (inclusive) bounds. */
export function requireWithin(bounds: Bounds, values: Readonly<Record<string, number>>): void {
  const fields = Object.entries(values)
    .filter(([, value]) => !isWithin(bounds, value))
    .map(([field]) => ({ field, message: wholeNumberWithin(bounds) }));
  if (fields.length > 0)
    throw new CardpollError('invalid', 'invalid_field', 'a value is out of bounds', { fields });
}

/** @throws CardpollError `conflict`. */
export function requireOffered(offers: Offers, name: InterfaceName): void {
  if (offers(name)) return;
  throw new CardpollError('conflict', 'not_offered', notOfferedWords(name), {
    hint: `if the gateway has such a call, describe it in gateway.interfaces.${name}`,
  });
}
