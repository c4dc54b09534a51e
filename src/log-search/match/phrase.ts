// Finds a Chinese phrase in a line whose encoding nobody states: UTF-8, GBK, or \uXXXX escapes in JSON, however often
// escaped. Used by interface-alias.ts, on the line's bytes as a latin1 string.

export interface Phrase {
  readonly text: string;
  readonly utf8: string;
  readonly gbk: string;
  readonly escaped: RegExp;
}

/** @param gbkHex the phrase's bytes in GBK. */
export function phrase(text: string, gbkHex: string): Phrase {
  const escapes = [...text].map(
    (char) => String.raw`\\+u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return {
    text,
    utf8: Buffer.from(text, 'utf8').toString('latin1'),
    gbk: Buffer.from(gbkHex, 'hex').toString('latin1'),
    escaped: new RegExp(escapes.join(''), 'i'),
  };
}

export function containsPhrase(line: string, { text, utf8, gbk, escaped }: Phrase): boolean {
  return line.includes(utf8) || containsGbk(line, gbk, text) || escaped.test(line);
}

/**
 * The bytes of a GBK phrase also occur across the halves of other characters, and within UTF-8. So the stretch around
 * them, between bytes that are never half of a character, is decoded.
 */
function containsGbk(line: string, gbk: string, text: string): boolean {
  for (let at = line.indexOf(gbk); at !== -1; at = line.indexOf(gbk, at + 1)) {
    let from = at;
    while (from > 0 && line.charCodeAt(from - 1) >= 0x40) from -= 1;
    const stretch = Buffer.from(line.slice(from, at + gbk.length + 1), 'latin1');
    const before = stretch.subarray(0, at - from + gbk.length);
    if (!isWholeUtf8(stretch) && new TextDecoder('gbk').decode(before).endsWith(text)) return true;
  }
  return false;
}

function isWholeUtf8(bytes: Buffer): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true });
    return true;
  } catch {
    return false;
  }
}
