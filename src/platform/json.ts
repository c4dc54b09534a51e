// Reads untrusted JSON, and finds faults in well-formed JSON: a name that occurs twice in an object, of which parsers silently
// take the last, and nesting so deep that code which walks the value may overflow the stack. The latter checks are for request
// bodies and import rows.

/** The value of a text; undefined: not JSON. */
export function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The JSON object a text holds; null for anything else. */
export function objectIn(text: string): Record<string, unknown> | null {
  const value = jsonIn(text);
  return isObject(value) ? value : null;
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A string, with the colon that makes it a name, or a bracket. */
const TOKENS = /"(?:[^"\\]|\\.)*"(\s*:)?|[{}[\]]/g;
/** Valid input of cardpoll is nested only a few levels. */
const MAX_DEPTH = 100;
const SHOWN_LENGTH = 100;

interface JsonFault {
  readonly code: 'repeated_field' | 'nested_too_deep';
  /** Description for people; its subject is the text. */
  readonly detail: string;
}

/** @param json well-formed. @returns the first fault; null: none. */
export function jsonFault(json: string): JsonFault | null {
  /** The names so far in each open object; null for a list. */
  const open: Array<Set<string> | null> = [];
  for (const [token, colon] of json.matchAll(TOKENS)) {
    if (token === '{' || token === '[') open.push(token === '{' ? new Set() : null);
    else if (token === '}' || token === ']') open.pop();
    else if (colon !== undefined) {
      const name = JSON.parse(token.slice(0, -colon.length)) as string;
      const names = open.at(-1);
      if (names?.has(name) === true)
        return { code: 'repeated_field', detail: `has the field ${shown(name)} twice` };
      names?.add(name);
    }
    if (open.length > MAX_DEPTH) {
      return { code: 'nested_too_deep', detail: `is nested more than ${MAX_DEPTH} levels deep` };
    }
  }
  return null;
}

function shown(name: string): string {
  return JSON.stringify(name.slice(0, SHOWN_LENGTH).replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '?'));
}
