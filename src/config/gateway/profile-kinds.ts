// The kinds of value that only the profile of a gateway has: request templates, places in an answer, lists of codes. Used by
// the table of a profile's settings. What a request needs as a whole is checked in gateway-rules.ts.
import { namesInBraces, PLACEHOLDERS, parseValuePath } from '../../domain/gateway/profile-syntax.ts';
import { bad, good, type Kind } from '../kinds.ts';

/** Longest request body or list of fields, in characters of JSON. */
const MAX_TEMPLATE_CHARS = 16_384;
const MAX_TEXT_CHARS = 2_048;
const MAX_CODES = 100;

/** A value of JSON that is neither a list nor a map. */
export type Code = string | number | boolean;

export type JsonTemplate = Readonly<Record<string, unknown>>;

export interface SuccessRule {
  readonly path: string;
  readonly values: readonly Code[];
}

export interface BatchRule {
  /** Most cards of one call. */
  readonly size: number;
  /** Where the list is in the answer; null: the answer is the list. */
  readonly items: string | null;
  /** Where an item has its card number. */
  readonly iccid: string;
  /** What is between the card numbers where they are one text. */
  readonly join: string;
}

const shown = (raw: unknown): string => (JSON.stringify(raw) ?? String(raw)).slice(0, 100);

function isMap(raw: unknown): raw is Record<string, unknown> {
  return typeof raw === 'object' && raw !== null && !Array.isArray(raw);
}

function isCode(raw: unknown): raw is Code {
  return (typeof raw === 'string' && raw !== '') || typeof raw === 'boolean' || Number.isFinite(raw);
}

/** A query of GraphQL may have a field of such a name behind a brace. */
const UNCLOSED = new RegExp(`\\{(?:${PLACEHOLDERS.join('|')})(?=$|[/?&"])`);

/** @returns what is wrong with the placeholders of a text; null: nothing. */
function placeholderProblem(text: string): string | null {
  const unclosed = UNCLOSED.exec(text);
  if (unclosed !== null) return `${unclosed[0]} has no closing brace`;
  const unknown = namesInBraces(text).find((name) => !(PLACEHOLDERS as readonly string[]).includes(name));
  const known = PLACEHOLDERS.map((name) => `{${name}}`).join(', ');
  return unknown === undefined ? null : `{${unknown}} is no placeholder; there are ${known}`;
}

/** A path of an HTTP call, with placeholders. */
export const PATH_TEMPLATE: Kind<string> = {
  accepts: 'path starting with /, with placeholders',
  parse: (raw) => {
    if (typeof raw !== 'string' || raw.length > MAX_TEXT_CHARS || !/^\/[\x21-\x7e]*$/.test(raw)) {
      return bad(`${shown(raw)} is not a path that starts with / and is percent-encoded`);
    }
    const problem = placeholderProblem(raw);
    return problem === null ? good(raw) : bad(problem);
  },
};

/** Texts by name, with placeholders: a query, a form, headers. */
export function templates(accepts: string, allowsName = /^[^\s=&]{1,100}$/): Kind<Record<string, string>> {
  return {
    accepts: `${accepts}: names and texts, with placeholders`,
    parse: (raw) => {
      if (!isMap(raw)) return bad(`${shown(raw)} must hold names and texts`);
      const texts: Record<string, string> = {};
      for (const [name, value] of Object.entries(raw)) {
        if (!allowsName.test(name)) return bad(`${shown(name)} cannot be used as a name here`);
        if (!isCode(value) && value !== '') return bad(`${name}: ${shown(value)} is not a text`);
        const text = String(value);
        if (text.length > MAX_TEXT_CHARS || !/^[^\p{Cc}]*$/u.test(text))
          return bad(`${name}: is not one line of text`);
        const problem = placeholderProblem(text);
        if (problem !== null) return bad(`${name}: ${problem}`);
        texts[name] = text;
      }
      return good(texts);
    },
  };
}

/** These are cardpoll's own: they follow from the connection, the body or the credentials. */
const OWN_HEADERS =
  'host|connection|content-length|content-type|transfer-encoding|expect|upgrade|authorization';

export const HEADERS = templates('headers', new RegExp(`^(?!(${OWN_HEADERS})$)[a-z0-9-]{1,100}$`, 'i'));

/** A JSON body: any map, whose texts may have placeholders. */
export const JSON_TEMPLATE: Kind<JsonTemplate> = {
  accepts: 'JSON object, with placeholders in its texts',
  parse: (raw) => {
    if (!isMap(raw)) return bad(`${shown(raw)} must hold keys and values`);
    const text = JSON.stringify(raw);
    if (text.length > MAX_TEMPLATE_CHARS) return bad(`is longer than ${MAX_TEMPLATE_CHARS} characters`);
    const problem = placeholderProblem(text);
    return problem === null ? good(raw) : bad(problem);
  },
};

/** A place in an answer. */
export const VALUE_PATH: Kind<string> = {
  accepts: 'place in the answer, such as data.used or list[0].used',
  parse: (raw) =>
    typeof raw === 'string' && raw.length <= MAX_TEXT_CHARS && parseValuePath(raw) !== null
      ? good(raw)
      : bad(`${shown(raw)} is no place in an answer (write data.used or list[0].used)`),
};

/** A list of values that an answer may have. A number and its text are two values: list both if both occur. */
export const CODES: Kind<readonly Code[]> = {
  accepts: 'list of texts, numbers, true or false',
  parse: (raw) => {
    const values = Array.isArray(raw) ? raw : [raw];
    if (values.length === 0 || values.length > MAX_CODES) return bad(`must have 1 to ${MAX_CODES} values`);
    const wrong = values.filter((value) => !isCode(value));
    return wrong.length === 0
      ? good(values as Code[])
      : bad(`${shown(wrong[0])} is no text, number, true or false`);
  },
};

/** `{path, values}`; empty: the HTTP status alone says whether a call succeeded. */
export const SUCCESS_RULE: Kind<SuccessRule | 'http_status'> = {
  accepts: '{path, values}, or {} for the HTTP status alone',
  parse: (raw) => {
    if (!isMap(raw)) return bad(`${shown(raw)} must be {path, values} or {}`);
    const problem = unknownKey(raw, ['path', 'values']);
    if (problem !== null) return bad(problem);
    if (Object.keys(raw).length === 0) return good('http_status');
    if (raw.path === undefined) return bad('path is missing');
    if (raw.values === undefined) return bad('values is missing');
    const path = VALUE_PATH.parse(raw.path);
    if (!path.ok) return bad(`path: ${path.problem}`);
    const values = CODES.parse(raw.values);
    return values.ok ? good({ path: path.value, values: values.value }) : bad(`values: ${values.problem}`);
  },
};

/** `{size, items, iccid, join}`. */
export const BATCH_RULE: Kind<BatchRule> = {
  accepts: '{size, items, iccid, join}',
  parse: (raw) => {
    if (!isMap(raw)) return bad(`${shown(raw)} must be {size, items, iccid}`);
    const problem = unknownKey(raw, ['size', 'items', 'iccid', 'join']);
    if (problem !== null) return bad(problem);
    const { size } = raw;
    if (!Number.isInteger(size) || Number(size) < 2 || Number(size) > 1_000) {
      return bad('size must be a whole number from 2 to 1000');
    }
    const items = raw.items === undefined ? good(null) : VALUE_PATH.parse(raw.items);
    if (!items.ok) return bad(`items: ${items.problem}`);
    if (raw.iccid === undefined)
      return bad('iccid is missing: where an item of the list has its card number');
    const iccid = VALUE_PATH.parse(raw.iccid);
    if (!iccid.ok) return bad(`iccid: ${iccid.problem}`);
    const { join = ',' } = raw;
    if (typeof join !== 'string' || !/^[,;|_.+-]$/.test(join))
      return bad('join must be one of , ; | _ . + -');
    return good({ size: Number(size), items: items.value, iccid: iccid.value, join });
  },
};

function unknownKey(raw: Record<string, unknown>, known: readonly string[]): string | null {
  const unknown = Object.keys(raw).find((key) => !known.includes(key));
  return unknown === undefined ? null : `unknown key ${unknown}; there are ${known.join(', ')}`;
}
