// The keys of a receiver's template; reports all its problems at once (docs/alerts.md). Used by load-receivers.ts. Whether an
// address may be called is checked at the call.

import {
  type Acceptance,
  ownUrlOf,
  RECEIVER_METHODS,
  RECEIVER_PLACEHOLDERS,
  type Receiver,
  type ReceiverRequest,
  RULE_URL,
  SECRET_PREFIX,
  SIGNATURES,
  secretNamesIn,
  type WordTable,
} from '../../domain/alerts/receiver.ts';
import type { Code } from '../../domain/gateway/gateway-config.ts';
import { headerName } from '../../domain/gateway/header-name.ts';
import { isObject } from '../../platform/json.ts';
import {
  CODE,
  CODES,
  checkKeys,
  jsonTemplate,
  templates,
  textTemplate,
  VALUE_PATH,
} from '../gateway/profile-kinds.ts';
import { all, integer, type Kind, listOf, oneOf, refuse, shown, text, within } from '../kinds.ts';

type Raw = Readonly<Record<string, unknown>>;

const REQUEST_KEYS = ['method', 'url', 'query', 'headers', 'body', 'text'] as const;
/** Keys of a template. */
export const TEMPLATE_KEYS = [
  ...[
    'description',
    ...REQUEST_KEYS,
    'resolved',
    'signed',
    'words',
    'escape',
    'max_bytes',
    'accept',
    'hosts',
  ],
];
const DEFAULT_MAX_BYTES = 2_000;
const MAX_BYTES = integer({ min: 100, max: 30_000 });
const STATUSES = ['fired', 'resolved', 'test'] as const;
const SEVERITIES = ['alert', 'warning', 'info'] as const;
const NAMES_SECRET = /(password|secret|token|credential|authorization|(api|hmac|routing|gotify)[_-]?key)$/i;

/** @returns the receiver, without the values of its secrets. @throws BadValue with every problem of the template. */
export function receiverOf(raw: Raw, from: Receiver['from']): Receiver {
  const tables = isObject(raw.words) ? Object.keys(raw.words) : [];
  const secrets = secretNamesIn(raw).map((name) => SECRET_PREFIX + name);
  const names = [...RECEIVER_PLACEHOLDERS, ...tables, ...secrets];
  const [request, resolved, signed, words, escapes, maxBytes, accept, hosts, description] = all(
    () => requestOf(raw, names),
    () => partOf(raw, 'resolved', names),
    () => partOf(raw, 'signed', names),
    () => read(raw, 'words', WORDS, {}),
    () => read(raw, 'escape', ESCAPE, {}),
    () => read(raw, 'max_bytes', MAX_BYTES, DEFAULT_MAX_BYTES),
    () => read(raw, 'accept', ACCEPT, ANY_SUCCESS),
    () => read(raw, 'hosts', listOf(text('host')), []),
    () => read(raw, 'description', text('text'), ''),
    () => checkKeys(raw, TEMPLATE_KEYS),
    () => checkSigned(raw),
  );
  const whole: ReceiverRequest = {
    ...{ method: 'POST', url: RULE_URL, query: {}, headers: {}, body: null, text: null },
    ...request,
  };
  const receiver = { from, description, request: whole, resolved: resolved ?? {}, signed, words, escapes };
  return { ...receiver, maxBytes, accept, hosts, secrets: {} };
}

/** Its secrets must not go to URLs other than the template's own. */
export function checkOwnUrl(receiver: Receiver): void {
  if (Object.keys(receiver.secrets).length > 0 && ownUrlOf(receiver) === null)
    refuse('url: is missing; secrets of the configuration go to a URL of the configuration only');
}

function requestOf(raw: Raw, names: readonly string[]): Partial<ReceiverRequest> {
  const [method, url, query, headers, body, text] = all(
    () => read(raw, 'method', oneOf(RECEIVER_METHODS), undefined),
    () => read(raw, 'url', urlTemplate(names), undefined),
    () => read(raw, 'query', templates('query', undefined, names), undefined),
    () => read(raw, 'headers', templates('headers', headerName(), names), undefined),
    () => read(raw, 'body', jsonTemplate(names), undefined),
    () => read(raw, 'text', textTemplate(names), undefined),
    () => raw.body !== undefined && raw.text !== undefined && refuse('give either body or text'),
    () => raw.method === 'GET' && (raw.body ?? raw.text) !== undefined && refuse('method GET has no body'),
    () => checkNoSecret(raw),
  );
  const given = { method, url, query, headers, body, text };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}

function partOf(raw: Raw, key: string, names: readonly string[]): Partial<ReceiverRequest> | null {
  const part = raw[key];
  if (part === undefined) return null;
  if (!isObject(part)) refuse(`${key}: ${shown(part)} must hold ${REQUEST_KEYS.join(', ')}`);
  return within(`${key}:`, () => {
    const [request] = all(
      () => requestOf(part, names),
      () => checkKeys(part, REQUEST_KEYS),
    );
    return request;
  });
}

function read<T, D>(raw: Raw, key: string, kind: Kind<T>, absent: D): T | D {
  return raw[key] === undefined ? absent : within(`${key}:`, () => kind.parse(raw[key]));
}

/** A separate URL, or that of the rule with a path after it. Only the path and the query may have placeholders. */
function urlTemplate(names: readonly string[]): Kind<string> {
  const accepts = `${RULE_URL}, ${RULE_URL}/path or an http or https URL, with placeholders in its path and query`;
  return {
    accepts,
    parse: (raw) => {
      const url = textTemplate([...names, 'url']).parse(raw);
      const [, path] = /^\{url\}((?:\/[\x21-\x7e]*)?)$/.exec(url) ?? [];
      const origin = /^https?:\/\/[^/?#{}@\s]+(?=[/?]|$)/.exec(url)?.[0];
      const rest = path ?? url.slice(origin?.length ?? 0);
      const isWhole = path === undefined ? origin !== undefined && URL.canParse(url) : !/[?#]/.test(path);
      return isWhole && !rest.includes(RULE_URL) && !rest.includes('#') ? url : refuse(`must be ${accepts}`);
    },
  };
}

/** A literal secret ends up in backups and in the history of the file, and is visible to every reader. */
function checkNoSecret(raw: Raw): void {
  const written = new Set<string>();
  const look = (value: unknown, name: string) => {
    if (Array.isArray(value)) for (const item of value) look(item, name);
    else if (isObject(value)) for (const [key, item] of Object.entries(value)) look(item, key);
    else if (typeof value === 'string' && NAMES_SECRET.test(name) && !value.includes('{')) written.add(name);
  };
  for (const key of ['query', 'headers', 'body']) look(raw[key], key);
  const url = typeof raw.url === 'string' && URL.canParse(raw.url) ? new URL(raw.url) : null;
  for (const [name, value] of url?.searchParams ?? []) look(value, name);
  if (written.size > 0)
    refuse(`${[...written].join(', ')}: write {${SECRET_PREFIX}NAME}; a secret is never in a template`);
}

function checkSigned(raw: Raw): void {
  const outside = JSON.stringify({ ...raw, signed: undefined });
  const used = SIGNATURES.filter((name) => outside.includes(`{${name}}`));
  if (used.length > 0) refuse(`{${used.join('}, {')}}: only below signed`);
}

const WORDS: Kind<Record<string, WordTable>> = {
  accepts: 'tables of words',
  parse: (raw) => {
    if (!isObject(raw)) refuse(`${shown(raw)} must hold tables`);
    const tables = all(
      ...Object.entries(raw).map(
        ([name, table]) =>
          () =>
            [name, wordTable(name, table)] as const,
      ),
    );
    return Object.fromEntries(tables);
  },
};

function wordTable(name: string, raw: unknown): WordTable {
  const reserved: readonly string[] = [...RECEIVER_PLACEHOLDERS, 'url'];
  if (!/^[a-z]\w{0,39}$/.test(name) || name.startsWith(SECRET_PREFIX))
    refuse(`${shown(name)} is no name for a table`);
  if (reserved.includes(name)) refuse(`${name} is a placeholder already`);
  if (!isObject(raw)) refuse(`${name}: ${shown(raw)} must say what severities or states are called`);
  const keys = [...STATUSES, ...SEVERITIES];
  const has = (wanted: readonly string[]) => wanted.every((key) => raw[key] !== undefined);
  return within(`${name}:`, () => {
    const [entries] = all(
      () =>
        all(
          ...Object.entries(raw).map(
            ([key, word]) =>
              () =>
                [key, wordOf(key, word)] as const,
          ),
        ),
      () => checkKeys(raw, keys),
      () =>
        has(['fired', 'resolved']) ||
        has(SEVERITIES) ||
        refuse(`needs fired and resolved, or ${SEVERITIES.join(', ')}`),
    );
    return Object.fromEntries(entries);
  });
}

/** Words are not templates, because a value must not be filled in twice. */
function wordOf(key: string, raw: unknown): Code {
  const word = within(`${key}:`, () => CODE.parse(raw));
  return typeof word === 'string' && word.includes('{') ? refuse(`${key}: a word has no placeholders`) : word;
}

const ESCAPE: Kind<Record<string, string>> = {
  accepts: 'characters, and what replaces them',
  parse: (raw) => {
    const fits = (value: unknown) => typeof value === 'string' && value.length <= 20;
    if (!isObject(raw) || !Object.entries(raw).every(([char, by]) => [...char].length === 1 && fits(by)))
      refuse(`${shown(raw)} must hold characters and what replaces them`);
    return raw as Record<string, string>;
  },
};

const ANY_SUCCESS: Acceptance = { status: null, path: null, values: null, busy: null, words: null, at: [] };

const ACCEPT: Kind<Acceptance> = {
  accepts: '{status, path, values, busy, words, at}',
  parse: (raw) => {
    if (!isObject(raw)) refuse(`${shown(raw)} must be {path, values} or {status}`);
    const [status, path, values, busy, words, at] = all(
      () => read(raw, 'status', listOf(integer({ min: 200, max: 299 })), null),
      () => read(raw, 'path', VALUE_PATH, null),
      () => read(raw, 'values', CODES, null),
      () => read(raw, 'busy', CODES, null),
      () => read(raw, 'words', VALUE_PATH, null),
      () => read(raw, 'at', listOf(text('host')), []),
      () => checkKeys(raw, Object.keys(ANY_SUCCESS)),
      () =>
        raw.path === undefined &&
        ['values', 'busy', 'at'].some((key) => raw[key] !== undefined) &&
        refuse('path is missing'),
      () => raw.path === undefined && raw.status === undefined && refuse('needs status or path'),
    );
    return { status, path, values, busy, words, at };
  },
};
