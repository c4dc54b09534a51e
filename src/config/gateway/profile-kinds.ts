// The kinds of value for the profile of a gateway: request templates, places in an answer, lists of codes. Used by the table of a
// profile's settings. gateway-rules.ts checks a request as a whole.
import type {
  BatchRule,
  Code,
  FindRule,
  JsonTemplate,
  SuccessRule,
} from '../../domain/gateway/gateway-config.ts';
import { headerName, TOKEN } from '../../domain/gateway/header-name.ts';
import {
  CREDENTIAL_PLACEHOLDERS,
  DATA_UNITS,
  type DataUnit,
  dataUnitIn,
  namesInBraces,
  PLACEHOLDERS,
  parseValuePath,
  type UnitWords,
  unitWord,
  WHOLE,
} from '../../domain/gateway/profile-syntax.ts';
import { agree } from '../../domain/gateway/volume.ts';
import { isObject } from '../../platform/json.ts';
import { all, duration, type Kind, kindOf, oneOf, refuse, shown, within } from '../kinds.ts';

/** Longest request body or list of fields, in characters of JSON. */
const MAX_TEMPLATE_CHARS = 16_384;
const MAX_TEXT_CHARS = 2_048;
const MAX_CODES = 100;

function isCode(raw: unknown): raw is Code {
  return (typeof raw === 'string' && raw !== '') || typeof raw === 'boolean' || Number.isFinite(raw);
}

/** Names of placeholders that a template may use. */
type Names = readonly string[];

function checkPlaceholders(text: string, names: Names): void {
  // A GraphQL query may have a field of this name after a brace.
  const known = [...PLACEHOLDERS, ...CREDENTIAL_PLACEHOLDERS, ...names];
  const unclosed = new RegExp(`\\{(?:${known.join('|')})(?=$|[/?&"])`).exec(text);
  const unknown = namesInBraces(text).filter((name) => !names.includes(name));
  all(
    () => unclosed && refuse(`${unclosed[0]} has no closing brace`),
    () => {
      if (unknown.length === 0) return;
      const are = unknown.length === 1 ? 'is no placeholder' : 'are no placeholders';
      refuse(`${inBraces([...new Set(unknown)])} ${are} here; there are ${inBraces(names)}`);
    },
  );
}

function inBraces(names: Names): string {
  return names.map((name) => `{${name}}`).join(', ');
}

/** A path of an HTTP call, with placeholders. */
export const pathTemplate = (names: Names): Kind<string> =>
  kindOf(
    'path starting with /, with placeholders',
    (raw) => {
      if (typeof raw !== 'string' || raw.length > MAX_TEXT_CHARS || !/^\/[\x21-\x7e]*$/.test(raw))
        return null;
      checkPlaceholders(raw, names);
      return raw;
    },
    'is not a path that starts with / and is percent-encoded',
  );

export const PATH_TEMPLATE = pathTemplate(PLACEHOLDERS);

/** Texts by name, with placeholders: a query, a form, headers. */
export function templates(
  accepts: string,
  allowsName = /^[^\s=&]{1,100}$/,
  names: Names = PLACEHOLDERS,
): Kind<Record<string, string>> {
  return {
    accepts: `${accepts}: names and texts, with placeholders`,
    parse: (raw) => {
      if (!isObject(raw)) refuse(`${shown(raw)} must hold names and texts`);
      const [texts] = all(
        () =>
          all(
            ...Object.entries(raw).map(([name, value]) => () => {
              if (!allowsName.test(name)) refuse(`${shown(name)} cannot be used as a name here`);
              if (!isCode(value) && value !== '') refuse(`${name}: ${shown(value)} is not a text`);
              const text = String(value);
              if (text.length > MAX_TEXT_CHARS || !/^[^\p{Cc}]*$/u.test(text))
                refuse(`${name}: is not one line of text`);
              return [name, text] as const;
            }),
          ),
        () => checkPlaceholders(JSON.stringify(Object.values(raw)), names),
      );
      return Object.fromEntries(texts);
    },
  };
}

/** The name of a header that may carry a token. */
export const TOKEN_HEADER = headerName('|content-type');
/** The name of a query parameter that may carry a token. */
export const PARAMETER_NAME = /^[\w.~-]{1,100}$/;

export const HEADERS = templates('headers', headerName('|authorization'));

/** The word before the token in its header. */
export const SCHEME: Kind<string> = kindOf(
  'one word, such as Token',
  (raw) => (typeof raw === 'string' && TOKEN.test(raw) ? raw : null),
  'is no word that can stand before a token',
);

/** A JSON body: any map or list, whose texts may have placeholders. */
export const jsonTemplate = (names: Names): Kind<JsonTemplate> => ({
  accepts: 'JSON object or list, with placeholders in its texts',
  parse: (raw) => {
    if (!isObject(raw) && !Array.isArray(raw)) refuse(`${shown(raw)} must hold keys and values, or a list`);
    const text = JSON.stringify(raw);
    if (text.length > MAX_TEMPLATE_CHARS) refuse(`is longer than ${MAX_TEMPLATE_CHARS} characters`);
    checkPlaceholders(text, names);
    return raw;
  },
});

export const JSON_TEMPLATE = jsonTemplate(PLACEHOLDERS);

/** A body that is neither JSON nor a form. */
export const textTemplate = (names: Names): Kind<string> =>
  kindOf(
    'text, with placeholders',
    (raw) => {
      if (typeof raw !== 'string' || raw === '' || raw.length > MAX_TEMPLATE_CHARS) return null;
      checkPlaceholders(raw, names);
      return raw;
    },
    `is not a text of 1 to ${MAX_TEMPLATE_CHARS} characters`,
  );

export const TEXT_TEMPLATE = textTemplate(PLACEHOLDERS);

/** A place in an answer. */
export const VALUE_PATH: Kind<string> = kindOf(
  'place in the answer, such as data.used or list[0].used; . is the whole answer',
  (raw) => {
    if (typeof raw !== 'string' || raw.length > MAX_TEXT_CHARS) return null;
    // An empty path is the answer itself.
    return raw === '' ? WHOLE : parseValuePath(raw) && raw;
  },
  'is no place in an answer (write data.used or list[0].used, or . for the whole answer)',
);

export const CODE: Kind<Code> = kindOf('text, number, true or false', (raw) => (isCode(raw) ? raw : null));

/** A list of possible values in an answer. A number and its text are two values: list both if both occur. */
export const CODES: Kind<readonly Code[]> = {
  accepts: 'list of texts, numbers, true or false',
  parse: (raw) => {
    const values = Array.isArray(raw) ? raw : [raw];
    if (values.length === 0 || values.length > MAX_CODES) refuse(`must have 1 to ${MAX_CODES} values`);
    all(
      ...values.map(
        (value) => () => isCode(value) || refuse(`${shown(value)} is no text, number, true or false`),
      ),
    );
    return values;
  },
};

const UNIT = oneOf(DATA_UNITS);
const MAX_WORD_CHARS = 40;

/** The vendor's words for units, in addition to the known ones. */
export const UNIT_WORDS: Kind<UnitWords> = {
  accepts: 'words and their units, such as {M: MB, G: GB}',
  parse: (raw) => {
    if (!isObject(raw)) refuse(`${shown(raw)} must hold words and units, such as {M: MB}`);
    const words = new Map<string, readonly [as: string, unit: DataUnit]>();
    all(
      ...Object.entries(raw).map(([as, value]) => () => {
        const word = unitWord(as);
        if (word === '' || word.length > MAX_WORD_CHARS) refuse(`${shown(as)} is no word for a unit`);
        const unit = within(`${as}:`, () => UNIT.parse(value));
        const [before, other] = words.get(word) ?? [];
        if (other !== undefined && other !== unit)
          refuse(`${before} is ${other}, and ${as} is ${unit}, but they are one word: capitals do not count`);
        const own = dataUnitIn(as);
        if (own !== null && !agree(own, unit)) refuse(`${as} is the unit ${own}, and cannot mean ${unit}`);
        words.set(word, [as, unit]);
      }),
    );
    if (words.size > MAX_CODES) refuse(`has more than ${MAX_CODES} words`);
    return Object.fromEntries([...words].map(([word, [, unit]]) => [word, unit]));
  },
};

/** `{path, values}`; empty: the HTTP status alone says whether a call succeeded. */
export const SUCCESS_RULE: Kind<SuccessRule | 'http_status'> = {
  accepts: '{path, values}, or {} for the HTTP status alone',
  parse: (raw) => {
    if (!isObject(raw)) refuse(`${shown(raw)} must be {path, values} or {}`);
    if (Object.keys(raw).length === 0) return 'http_status';
    const [path, values] = all(
      () => needed(raw, 'path', VALUE_PATH, ''),
      () => needed(raw, 'values', CODES, ''),
      () => checkKeys(raw, ['path', 'values']),
    );
    return { path, values };
  },
};

/** `{size, items, iccid, join}`. */
export const BATCH_RULE: Kind<BatchRule> = {
  accepts: '{size, items, iccid, join}',
  parse: (raw) => {
    if (!isObject(raw)) refuse(`${shown(raw)} must be {size, items, iccid}`);
    const { size, join = ',' } = raw;
    const [list] = all(
      () => listOf(raw),
      () => {
        if (!Number.isInteger(size) || Number(size) < 2 || Number(size) > 1_000)
          refuse('size must be a whole number from 2 to 1000');
      },
      () => {
        if (typeof join !== 'string' || !/^[,;|_.+-]$/.test(join))
          refuse('join must be one of , ; | _ . + -');
      },
      () => checkKeys(raw, ['size', 'items', 'iccid', 'join']),
    );
    return { size: Number(size), ...list, join: String(join) };
  },
};

/** `{items, iccid}`. */
export const FIND_RULE: Kind<FindRule> = {
  accepts: '{items, iccid}',
  parse: (raw) => {
    if (!isObject(raw)) refuse(`${shown(raw)} must be {items, iccid}`);
    const [list] = all(
      () => listOf(raw),
      () => checkKeys(raw, ['items', 'iccid']),
    );
    return list;
  },
};

/** The values as given; gateway-rules.ts checks them against the interface. */
interface PendingGiven {
  readonly path: string | null;
  readonly values: readonly Code[] | null;
  readonly forMs: number;
}

const PENDING_FOR = duration('s', { min: 1, max: 86_400 });
const USUALLY_PENDING_S = 600;

/** `{path, values, for}`. */
export const PENDING_RULE: Kind<PendingGiven> = {
  accepts: '{path, values, for}',
  parse: (raw) => {
    if (!isObject(raw)) refuse(`${shown(raw)} must be {path, values, for}`);
    const { path = null, values = null, for: seconds = USUALLY_PENDING_S } = raw;
    const [place, codes, forSeconds] = all(
      () => (path === null ? null : within('path:', () => VALUE_PATH.parse(path))),
      () => (values === null ? null : within('values:', () => CODES.parse(values))),
      () => within('for:', () => PENDING_FOR.parse(seconds)),
      () => checkKeys(raw, ['path', 'values', 'for']),
    );
    return { path: place, values: codes, forMs: forSeconds * 1_000 };
  },
};

function listOf(raw: Record<string, unknown>): FindRule {
  const [items, iccid] = all(
    () => (raw.items === undefined ? null : needed(raw, 'items', VALUE_PATH, '')),
    () => needed(raw, 'iccid', VALUE_PATH, ': where an item of the list has its card number'),
  );
  return { items, iccid };
}

/** @param what continues the message about a missing value. */
function needed<T>(raw: Record<string, unknown>, key: string, kind: Kind<T>, what: string): T {
  if (raw[key] === undefined) refuse(`${key} is missing${what}`);
  return within(`${key}:`, () => kind.parse(raw[key]));
}

export function checkKeys(raw: Record<string, unknown>, known: readonly string[]): void {
  const unknown = Object.keys(raw).filter((key) => !known.includes(key));
  if (unknown.length > 0)
    refuse(
      `unknown key${unknown.length === 1 ? '' : 's'} ${unknown.join(', ')}; there are ${known.join(', ')}`,
    );
}
