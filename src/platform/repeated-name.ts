// Finds a name that an object of a JSON text has twice: parsers take the last one in silence, and a reader may have meant
// the first. Used for bodies of requests and rows of imports.

/** A text, with the colon that makes it a name, or what begins and ends objects and lists. */
const TOKENS = /"(?:[^"\\]|\\.)*"(\s*:)?|[{}[\]]/g;

/** @param json well-formed. @returns the first name found twice in one object; null when there is none. */
export function repeatedName(json: string): string | null {
  /** Names so far of the objects we are in; null: a list. */
  const open: Array<Set<string> | null> = [];
  for (const [token, colon] of json.matchAll(TOKENS)) {
    if (token === '{') open.push(new Set());
    else if (token === '[') open.push(null);
    else if (token === '}' || token === ']') open.pop();
    else if (colon !== undefined) {
      const name = JSON.parse(token.slice(0, -colon.length)) as string;
      const names = open.at(-1);
      if (names?.has(name) === true) return name;
      names?.add(name);
    }
  }
  return null;
}
