// Builds the answers of a simulated gateway, value by value. Used by profile-dialect.ts and proof-check.ts.
import { parseValuePath } from '../../domain/gateway/profile-syntax.ts';
import { isObject } from '../../platform/json.ts';

/** Puts a value at a place of a body, whose lists and maps are made on the way. @returns the body */
export function placed(body: unknown, path: string, value: unknown): unknown {
  return placedAt(body, parseValuePath(path) ?? [], value);
}

function placedAt(body: unknown, path: readonly (string | number)[], value: unknown): unknown {
  const [step, ...rest] = path;
  if (step === undefined) return value;
  if (typeof step === 'number') {
    const list: unknown[] = Array.isArray(body) ? body : [];
    while (list.length < step) list.push({});
    list[step] = placedAt(list[step], rest, value);
    return list;
  }
  const map = isObject(body) ? body : {};
  // Here a name such as __proto__ is a key as any other.
  return { ...map, [step]: placedAt(Object.hasOwn(map, step) ? map[step] : undefined, rest, value) };
}
