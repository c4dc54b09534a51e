// Where a reply of Redis ends (RESP3).
const LINE_END = '\r\n';
/** Followed by as many bytes as their first line says. */
const BYTES = '$=!';
/** Followed by as many replies, or twice as many. */
const LISTS: Readonly<Record<string, number>> = { '*': 1, '~': 1, '>': 1, '%': 2 };

/** @returns the offset behind the reply that begins at this one, or null: it is not whole */
export function endOfReply(bytes: Buffer, at: number): number | null {
  const line = bytes.indexOf(LINE_END, at);
  if (line === -1) return null;
  const type = String.fromCharCode(bytes[at] ?? 0);
  const length = Number(bytes.toString('latin1', at + 1, line));
  let end: number | null = line + LINE_END.length;
  if (BYTES.includes(type) && length >= 0) {
    end += length + LINE_END.length;
    return end <= bytes.length ? end : null;
  }
  for (let left = (LISTS[type] ?? 0) * length; left > 0 && end !== null; left -= 1)
    end = endOfReply(bytes, end);
  return end;
}
