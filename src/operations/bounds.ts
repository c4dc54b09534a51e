// Refuses numbers out of their bounds, all of them at once, in the words every face of the product shows.
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

/** Throws CardpollError `invalid` naming each field that is not a whole number within the bounds, ends included. */
export function requireWithin(bounds: Bounds, values: Readonly<Record<string, number>>): void {
  const fields = Object.entries(values)
    .filter(([, value]) => !isWithin(bounds, value))
    .map(([field]) => ({ field, message: wholeNumberWithin(bounds) }));
  if (fields.length > 0)
    throw new CardpollError('invalid', 'invalid_field', 'a value is out of bounds', { fields });
}
