// The edge between camelCase results and the snake_case JSON of the contract. Used by every route: keys are converted
// deeply, a Date becomes an RFC 3339 time in UTC, everything else stays as it is. Nothing else renames a field.
import { type SnakeCase, snakeKeys } from '../../platform/snake-keys.ts';

/** T as it stands in JSON. */
export type Wire<T> = T extends Date
  ? string
  : T extends readonly (infer Item)[]
    ? Wire<Item>[]
    : T extends object
      ? { [Key in keyof T as Key extends string ? SnakeCase<Key> : never]: Wire<T[Key]> }
      : T;

export function toWire<T>(value: T): Wire<T> {
  return snakeKeys(value) as Wire<T>;
}
