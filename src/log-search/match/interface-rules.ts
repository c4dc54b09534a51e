// Determines the interfaces of a line: searches its request paths, fields and text for the signs in the domain's table, and for
// the user's own. Works on the line's bytes as a latin1 string, so that UTF-8 and GBK need no decoding. Used by find-hits.ts,
// only on lines that contain the card.

import { isUtf8 } from 'node:buffer';
import { INTERFACES, type InterfaceName } from '../../domain/gateway-interface.ts';

/**
 * A phrase, usually Chinese, in a line of unknown encoding: UTF-8, GBK, or Unicode escapes in JSON, escaped any number of times.
 * The search uses the bytes of the line as a latin1 string.
 */
class Phrase {
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
 * The pattern of a UTF-16 unit: its escape, or the unit itself where JSON need not escape it. It begins at the last backslash of
 * a run, because trying each one takes quadratic time when there are many.
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
function gbkTextOf(line: string): string {
  if (!/[\x80-\xff]/.test(line) || isUtf8(Buffer.from(line, 'latin1'))) return '';
  const decoder = new TextDecoder('gbk');
  return line.replace(/[\x40-\xff]+/g, (stretch) => {
    const bytes = Buffer.from(stretch, 'latin1');
    return isUtf8(bytes) ? bytes.toString('utf8') : decoder.decode(bytes);
  });
}

/** Signs of one interface in the user's own logs, in addition to the domain's table. */
interface OwnSignsOfOne {
  readonly paths: readonly string[];
  /** Fields of the answer, in JSON, logfmt or other `key=value` text. */
  readonly fields: readonly string[];
  readonly phrases: readonly string[];
}

export type OwnSigns = Readonly<Partial<Record<InterfaceName, Partial<OwnSignsOfOne>>>>;

interface Rule {
  /** Parts to look for in a normalised path. */
  readonly inPath: readonly string[];
  readonly fields: readonly Field[];
  readonly phrases: readonly Phrase[];
}

export class InterfaceRules {
  readonly #rules: ReadonlyArray<readonly [InterfaceName, Rule]>;

  /** @param strict use only the request path. */
  constructor(
    wanted: readonly InterfaceName[],
    own: OwnSigns,
    private readonly strict: boolean,
  ) {
    this.#rules = wanted.map((name) => [name, ruleOf(name, own[name] ?? {})]);
  }

  /** The wanted interfaces that a line, as latin1, belongs to. */
  interfacesOf(line: string): InterfaceName[] {
    const paths = pathsIn(line);
    const gbk = this.strict ? '' : gbkTextOf(line);
    const belongs = ({ inPath, fields, phrases }: Rule) => {
      if (inPath.some((part) => paths.some((path) => path.includes(part)))) return true;
      if (this.strict) return false;
      return fields.some((field) => field.isIn(line)) || phrases.some((phrase) => phrase.isIn(line, gbk));
    };
    return this.#rules.filter(([, rule]) => belongs(rule)).map(([name]) => name);
  }
}

function ruleOf(name: InterfaceName, own: NonNullable<OwnSigns[InterfaceName]>): Rule {
  const { answer, signs } = INTERFACES[name];
  const { paths, pathParts, phrases } = signs;
  const fields = answer === null ? [] : [answer.field];
  return {
    inPath: [...(pathParts ?? []), ...[...paths, ...(own.paths ?? [])].map(normalizePath)],
    fields: [...fields, ...(own.fields ?? [])].map((field) => new Field(field)),
    phrases: [...phrases, ...(own.phrases ?? [])].map((text) => new Phrase(text)),
  };
}

// The patterns begin at the last backslash of a run: trying each one takes quadratic time when there are many.
const QUOTE = String.raw`(?:"|\\u0022)`;
const CLOSING = String.raw`(?:\\*"|\\+u0022)`;
/** A key of `key=value` text: not part of a longer key, and not a query parameter. */
const KEY_START = String.raw`(?:(?<![\w.?&-])|(?<=\\[nrt]))`;

/** Checks the text before the key last: checking it first takes a hundred times as long. */
function keyPattern(name: string): string {
  return `${name}=(?<=${KEY_START}${name}=)`;
}

class Field {
  readonly #name: string;
  /** A JSON key, plain or escaped inside a string any number of times. */
  readonly #inJson: RegExp;
  readonly #inText: RegExp;

  constructor(field: string) {
    this.#name = Buffer.from(field, 'utf8').toString('latin1');
    const name = this.#name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
    this.#inJson = new RegExp(String.raw`${QUOTE}${name}${CLOSING}\s*:`);
    this.#inText = new RegExp(`${keyPattern(name)}(?!=)`);
  }

  isIn(line: string): boolean {
    return line.includes(this.#name) && (this.#inJson.test(line) || this.#inText.test(line));
  }
}

// The path in a field path, uri or url (JSON, or `key=value`), or in a request line of an access log.
const PATH_NAME = '(?:path|uri|url)';
/** Longer ones would exhaust the stack of the regular expression. */
const PATH_VALUE = String.raw`((?:[^"\\\s]|\\+/){1,4096})`;
const PATH_FIELD = new RegExp(`${QUOTE}${PATH_NAME}${CLOSING}\\s*:\\s*${CLOSING}${PATH_VALUE}`, 'g');
const PATH_PAIR = new RegExp(`${keyPattern(PATH_NAME)}(?:${CLOSING}|')?${PATH_VALUE}`, 'g');
const REQUEST_LINE = /(?<![\w])(?:GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS) ((?:\/|https?:\/\/)[^"\\\s]*)/g;

function pathsIn(line: string): string[] {
  return [PATH_FIELD, PATH_PAIR, REQUEST_LINE].flatMap((pattern) =>
    Array.from(line.matchAll(pattern), ([, path = '']) => normalizePath(path)),
  );
}

/** Normal form, `/gateway/cardflow/`: lower case, without host, query, parameters, `-`, `_`, quotes and brackets. */
function normalizePath(path: string): string {
  const bare = path
    .replaceAll('\\', '')
    .replace(/[?#,].*$/s, '')
    .replace(/^[a-z][a-z\d+.-]*:\/\/[^/]*/i, '')
    .replace(/;[^/]*/g, '')
    .replace(/[-_'()[\]{}<>]/g, '')
    // A path at the end of a sentence.
    .replace(/[.:]$/, '');
  return `/${bare}/`.replace(/\/+/g, '/').toLowerCase();
}
