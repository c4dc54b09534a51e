// The `time` of a log line: RFC 3339 with milliseconds and the offset of the process's zone, so that a day searched in
// the logs is the operator's day. Used by logger.ts for every line, so all but the milliseconds is kept for a second.

/** Returns a formatter with its own memory of the present second. */
export function logTimeFormatter(): (epochMs: number) => string {
  let second = Number.NaN;
  let date = '';
  let offset = '';
  return (epochMs) => {
    const present = Math.floor(epochMs / 1000);
    if (present !== second) {
      second = present;
      const offsetMinutes = -new Date(epochMs).getTimezoneOffset();
      date = new Date(present * 1000 + offsetMinutes * 60_000).toISOString().slice(0, 19);
      offset = formatOffset(offsetMinutes);
    }
    const milliseconds = Math.floor(epochMs) - present * 1000;
    return `${date}.${String(milliseconds).padStart(3, '0')}${offset}`;
  };
}

function formatOffset(minutes: number): string {
  const twoDigits = (value: number) => String(value).padStart(2, '0');
  const size = Math.abs(minutes);
  return `${minutes < 0 ? '-' : '+'}${twoDigits(Math.floor(size / 60))}:${twoDigits(size % 60)}`;
}
