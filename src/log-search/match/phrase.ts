// Finds a phrase, usually Chinese, in a line of unknown encoding: UTF-8, GBK, or Unicode escapes in JSON, escaped any
// number of times. Used by interface-rules.ts, on the line's bytes as a latin1 string.
import { isUtf8 } from 'node:buffer';

export class Phrase {
  readonly #utf8: string;
  readonly #escaped: RegExp;

  constructor(private readonly text: string) {
    this.#utf8 = Buffer.from(text, 'utf8').toString('latin1');
    this.#escaped = new RegExp(text.split('').map(patternOf).join(''));
  }

  /** @param gbk the result of `gbkTextOf` for the line. */
  isIn(line: string, gbk: string): boolean {
    return line.includes(this.#utf8) || gbk.includes(this.text) || this.#escaped.test(line);
  }
}

/**
 * The pattern of a UTF-16 unit: its escape, or the unit itself where JSON need not escape it. It begins at the last
 * backslash of a run, because trying each one takes quadratic time when there are many.
 */
function patternOf(unit: string, at: number): string {
  const hex = unit.charCodeAt(0).toString(16).padStart(4, '0');
  const digits = hex.replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`);
  const escaped = String.raw`\\${at === 0 ? '' : '+'}u${digits}`;
  if (unit >= '\x80') return escaped;
  return `(?:${escaped}|${unit.replace(/[.*+?^${}()|[\]\\]/, '\\$&')})`;
}

/**
 * Decodes the parts of the line, given as latin1, that are not UTF-8 as GBK; empty when the whole line is UTF-8. The bytes
 * of a GBK character also occur within UTF-8 and across two characters, so whole stretches are decoded, between bytes
 * that are never half of a character.
 */
export function gbkTextOf(line: string): string {
  if (!/[\x80-\xff]/.test(line) || isUtf8(Buffer.from(line, 'latin1'))) return '';
  const decoder = new TextDecoder('gbk');
  return line.replace(/[\x40-\xff]+/g, (stretch) => {
    const bytes = Buffer.from(stretch, 'latin1');
    return isUtf8(bytes) ? bytes.toString('utf8') : decoder.decode(bytes);
  });
}
