// What is wrong with a JSON text that is well-formed all the same: a name that an object has twice, of which parsers take
// the last in silence, and nesting so deep that whoever walks through the value may fall over. Used for bodies of requests
// and rows of imports.

/** A text, with the colon that makes it a name, or what begins and ends objects and lists. */
const TOKENS = /"(?:[^"\\]|\\.)*"(\s*:)?|[{}[\]]/g;
/** Nothing that cardpoll reads is nested more than a few levels. */
const MAX_DEPTH = 100;
const SHOWN_LENGTH = 100;

interface JsonFault {
  readonly code: 'repeated_field' | 'nested_too_deep';
  /** What the text does, for people. */
  readonly detail: string;
}

/** @param json well-formed. @returns the first fault; null when there is none. */
export function jsonFault(json: string): JsonFault | null {
  /** Names so far of the objects we are in; null: a list. */
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
