// Tokens as settings: the tokens that open the admin API, and the tokens that cardpoll sends to other services. Only the hash of
// an admin token is stored; a token of `cardpoll token new` has 256 random bits, so a slow hash would add nothing. An entry
// without a name keeps the rights of older releases, so that an upgrade removes none. Messages never quote a value.
import { createHash } from 'node:crypto';
import { type AdminToken, TOKEN_ROLES, type TokenRole } from '../domain/admin-token.ts';
import { type Kind, refuse, within } from './kinds.ts';

const MIN_TOKEN_LENGTH = 16;
const HASHED = /^sha256:([0-9a-f]{64})$/;
const EXPIRING = /^(.*)@(\d{4}-\d{2}-\d{2})$/;
const DAY_MS = 86_400_000;
/** Length of the hash prefix that names a token without a name: enough to distinguish an instance's few tokens. */
const FINGERPRINT_CHARS = 6;
/** Names with another meaning in the audit trail. */
const TAKEN: readonly string[] = ['local', 'daemon', ...TOKEN_ROLES];

/** The name of a token. */
export const TOKEN_NAME: Kind<string> = {
  accepts: 'name of at most 64 letters, digits, dots, dashes and underscores',
  parse: (raw) => {
    const name = String(raw);
    if (!/^[A-Za-z0-9][\w.-]{0,63}$/.test(name)) refuse(`is not a ${TOKEN_NAME.accepts}`);
    return TAKEN.includes(name) ? refuse('is reserved: choose another name') : name;
  },
};

/** A calendar day. Yields the first instant after it, in UTC. */
export const LAST_DAY: Kind<number> = {
  accepts: 'day as in 2027-01-31',
  parse: (raw) => {
    const startMs = Date.parse(`${raw}T00:00:00Z`);
    const exists = !Number.isNaN(startMs) && new Date(startMs).toISOString().startsWith(String(raw));
    return exists && /^\d{4}-\d{2}-\d{2}$/.test(String(raw))
      ? startMs + DAY_MS
      : refuse(`is not a ${LAST_DAY.accepts}`);
  },
};

export function hashOf(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}

/** The setting entry that admits a token, with its hash only. @param lastDay YYYY-MM-DD; null: the token does not expire */
export function hashedEntry(name: string, role: TokenRole, token: string, lastDay: string | null): string {
  return `${name}:${role}:sha256:${hashOf(token)}${lastDay === null ? '' : `@${lastDay}`}`;
}

function parseEntry(entry: string): AdminToken {
  const [first = '', ...rest] = entry.split(':');
  const nameless = roleOf(first);
  const role = nameless ?? roleOf(rest[0] ?? '');
  if (role === undefined)
    refuse(`does not begin with ${TOKEN_ROLES.join(':, ')}: or a name and one of these`);
  if (nameless === undefined) {
    const name = within('begins with a name that', () => TOKEN_NAME.parse(first));
    return { name, role, ...parseSecret(rest.slice(1).join(':')) };
  }
  const secret = parseSecret(rest.join(':'));
  // Before the role admin existed, operators could do everything; entries from that time keep their rights.
  const rights = role === 'operator' ? 'admin' : role;
  return { name: `${role}-${secret.hash.slice(0, FINGERPRINT_CHARS)}`, role: rights, ...secret };
}

function roleOf(word: string): TokenRole | undefined {
  return TOKEN_ROLES.find((known) => known === word);
}

/** The token or its hash, with an optional last day. */
function parseSecret(text: string): Pick<AdminToken, 'hash' | 'expiresAtMs'> {
  const [, token = text, lastDay] = EXPIRING.exec(text) ?? [];
  const expiresAtMs =
    lastDay === undefined ? null : within('has an expiry that', () => LAST_DAY.parse(lastDay));
  const hash = HASHED.exec(token)?.[1];
  if (hash !== undefined) return { hash, expiresAtMs };
  if (token.startsWith('sha256:')) refuse('has a hash that is not 64 hexadecimal digits');
  if (token.length < MIN_TOKEN_LENGTH || !/^[\x21-\x7e]+$/.test(token))
    refuse(`has a token that is not at least ${MIN_TOKEN_LENGTH} printable characters without spaces`);
  return { hash: hashOf(token), expiresAtMs };
}

/** `[name:]role:token` entries, separated by commas or line ends; a hash may replace the token. */
export const ADMIN_TOKENS: Kind<readonly AdminToken[]> = {
  accepts: '[name:]role:token[@last-day] entries, comma separated',
  parse: (raw) => {
    const entries = String(raw)
      .split(/[,\n]/)
      .map((entry) => entry.trim())
      .filter((entry) => entry !== '' && !entry.startsWith('#'));
    const tokens: AdminToken[] = [];
    for (const [index, entry] of entries.entries()) {
      const token = within(`entry ${index + 1}`, () => parseEntry(entry));
      if (tokens.some(({ hash }) => hash === token.hash))
        refuse(`entry ${index + 1} repeats the token of an earlier entry`);
      tokens.push(token);
    }
    return tokens.length > 0 ? tokens : refuse('there is no entry');
  },
};

/** A secret that is encoded before it is sent, so that it may have spaces. The value is never quoted. */
export const SECRET_LINE: Kind<string> = {
  accepts: 'one line of text',
  parse: (raw) => (/^\P{Cc}{1,4096}$/u.test(String(raw)) ? String(raw) : refuse('must be one line of text')),
};

/** One secret that is sent in an HTTP header, or signs one. */
export const SECRET_TEXT: Kind<string> = {
  accepts: 'printable characters without spaces',
  parse: (raw) => {
    const value = String(raw).trim();
    return /^[\x21-\x7e]+$/.test(value) ? value : refuse('must be printable characters without spaces');
  },
};
