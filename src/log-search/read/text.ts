// Decides whether data is text, and which byte ends its records. Used by scan-file.ts: other data is reported, not searched. Text
// is recognised by missing control characters, because compressed and other binary data has one in every ten bytes.
const SAMPLE_BYTES = 4_096;
/** Length of the beginning that is searched for a record end. */
const HEAD_BYTES = 65_536;
const TAR_MAGIC = Buffer.from('ustar');
const TAR_MAGIC_AT = 257;
const TAR_BLOCK = 512;
/** Control characters allowed in a block of text. */
const MOST_CONTROLS = 4;

/**
 * Text may contain these control characters: tabs, ends of lines, form feeds, those of colours, and those before records of JSON.
 */
const IS_CONTROL = Uint8Array.from({ length: 256 }, (_, byte) =>
  Number(
    (byte > 0 && byte < 8) || (byte > 13 && byte < 32 && byte !== 0x1b && byte !== 0x1e) || byte === 127,
  ),
);

/** @param bytes the beginning of the data, without NUL bytes in front. */
export function isText(bytes: Buffer): boolean {
  const sample = bytes.subarray(0, SAMPLE_BYTES);
  let [controls, nuls] = [0, 0];
  // A plain loop, because an iterator takes ten times as long for the first files.
  for (let at = 0; at < sample.length; at += 1) {
    const byte = sample[at] ?? 0;
    controls += IS_CONTROL[byte] ?? 0;
    if (byte === 0) nuls += 1;
  }
  return controls * 50 <= sample.length && nuls * 8 <= sample.length;
}

export function isTar(bytes: Buffer): boolean {
  return bytes.subarray(TAR_MAGIC_AT, TAR_MAGIC_AT + TAR_MAGIC.length).equals(TAR_MAGIC);
}

/** Whether a piece of a tar archive holds data of a member that is not text. */
export function hasBinaryMember(bytes: Buffer): boolean {
  for (let from = 0; from < bytes.length; from += TAR_BLOCK) {
    let controls = 0;
    for (const byte of bytes.subarray(from, from + TAR_BLOCK)) controls += IS_CONTROL[byte] ?? 0;
    if (controls > MOST_CONTROLS) return true;
  }
  return false;
}

/** The byte that ends records, if it is not the newline: the carriage return or NUL. @param bytes the beginning of the data. */
export function otherSeparator(bytes: Buffer): number | null {
  if (isTar(bytes)) return 0;
  const head = bytes.subarray(0, HEAD_BYTES);
  if (head.includes(0x0a)) return null;
  return [0x0d, 0].find((byte) => head.includes(byte)) ?? null;
}

/** Replaces all bytes of one value by newlines. */
export function toNewlines(bytes: Buffer, separator: number): void {
  for (let at = bytes.indexOf(separator); at !== -1; at = bytes.indexOf(separator, at + 1)) bytes[at] = 0x0a;
}

/** Whether messages follow each other with length prefixes (RFC 6587), and without ends. */
export function isCounted(bytes: Buffer): boolean {
  const length = /^(\d{1,6}) <\d{1,3}>/.exec(bytes.toString('latin1', 0, 16))?.[1];
  if (length === undefined) return false;
  const next = length.length + 1 + Number(length);
  return bytes[next - 1] !== 0x0a && /^\d{1,6} </.test(bytes.toString('latin1', next, next + 10));
}
