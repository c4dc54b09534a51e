// Settings of commands: for every command that calls a daemon, and for `cardpoll logs` additional signs that a line belongs to an
// interface. Part of the settings table (settings.ts).
import { type InterfaceName, perInterface } from '../../domain/gateway-interface.ts';
import { SECRET_TEXT } from '../admin-tokens.ts';
import { BASE_URL, duration, formed, type Kind, kindOf, listOf } from '../kinds.ts';
import { optional, section, withDefault } from './setting.ts';

const client = ['client'] as const;

export const CLIENT = section('client.', '', {
  url: withDefault({
    flag: '--url',
    kind: BASE_URL,
    default: 'http://127.0.0.1:7480',
    doc: 'Base URL of the daemon to talk to. Without it: the URL of the context in use, else `listen`.',
    scopes: client,
  }),
  token: optional({
    secret: 'whole',
    fileFlag: '--token-file',
    kind: SECRET_TEXT,
    doc: 'Token to send to the daemon.',
    scopes: client,
  }),
  timeoutMs: withDefault({
    flag: '--timeout',
    kind: duration('ms', { min: 100, max: 600_000 }),
    default: 10_000,
    doc: 'How long to wait for an answer from the daemon.',
    scopes: client,
  }),
});

export type SignSettings = ReturnType<typeof signSettings>;

export function signSettings(name: string) {
  const phrase = formed('phrase without quotes and backslashes', /^(?=.*\S)[^\p{Cc}"\\]{1,100}$/u);
  return section(`log_search.interfaces.${name}.`, null, {
    paths: signs(
      PATH_SEGMENTS,
      'Additional path segments of its calls in log lines; case, - and _ are ignored.',
    ),
    fields: signs(
      formed('field name', /^[\w.@$-]{1,100}$/),
      'Additional fields of its answers in log lines.',
    ),
    phrases: signs(phrase, 'Additional phrases in log lines about it.'),
  });
}

function signs(kind: Kind<string>, doc: string) {
  return optional({ kind: listOf(kind), doc, defaultText: 'only the built-in ones', scopes: ['logs'] });
}

const SEGMENT = /^(?=.*[a-z\d])[\w.~%-]{1,100}$/i;

/** Each segment needs a letter or digit: `-` and `_` are ignored, and without them other segments would match every path. */
const PATH_SEGMENTS: Kind<string> = kindOf('path segment (verify) or several (auth/check)', (raw) =>
  typeof raw === 'string' && raw.split('/').every((part) => SEGMENT.test(part)) ? raw : null,
);

export const LOG_SEARCH: Readonly<Record<InterfaceName, SignSettings>> = perInterface(signSettings);
