// The result of a change as text and back, for requests that may be sent again. Used by audit.ts. Results are plain data;
// dates stay dates.

const DATE = '$date';

export function textOf(result: unknown): string {
  return JSON.stringify({ result }, function (this: Record<string, unknown>, name, value) {
    const original = this[name];
    return original instanceof Date ? { [DATE]: original.getTime() } : value;
  });
}

/** @param text what `textOf` made of a T. */
export function resultIn<T>(text: string): T {
  const kept = JSON.parse(text, (_, value) => (isDate(value) ? new Date(value[DATE]) : value));
  return (kept as { result: T }).result;
}

function isDate(value: unknown): value is { readonly [DATE]: number } {
  return (
    typeof value === 'object' &&
    value !== null &&
    typeof (value as Record<string, unknown>)[DATE] === 'number'
  );
}
