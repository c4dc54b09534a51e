// A place in a JSON answer: `data.used`, `result.cards[0].usage`, `[0].value`. The profile of a gateway names values so
// (docs/gateways.md); the client compiles each path once.

const STEP = /([^.[\]\s]+)|\[(\d{1,6})\]/y;

export type ValuePath = readonly (string | number)[];

/** @returns the steps of the path; null when it is none. */
export function parseValuePath(text: string): ValuePath | null {
  const steps: Array<string | number> = [];
  let at = 0;
  while (at < text.length) {
    if (text[at] === '.' && steps.length > 0 && text[at + 1] !== '[') at += 1;
    STEP.lastIndex = at;
    const [step, name, index] = STEP.exec(text) ?? [];
    // A name follows a dot, an index does not.
    if (step === undefined || (name !== undefined && steps.length > 0 && text[at - 1] !== '.')) return null;
    steps.push(name ?? Number(index));
    at += step.length;
  }
  return steps.length === 0 ? null : steps;
}

/** @returns the value at the path; undefined when there is none. Only own properties count. */
export function valueAt(body: unknown, path: ValuePath): unknown {
  let value = body;
  for (const step of path) {
    if (typeof value !== 'object' || value === null) return undefined;
    if (typeof step === 'number' && !Array.isArray(value)) return undefined;
    if (!Object.hasOwn(value, step)) return undefined;
    value = (value as Record<string | number, unknown>)[step];
  }
  return value;
}
