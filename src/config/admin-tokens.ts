// Tokens as settings: who may use the admin API, and the tokens cardpoll itself shows to others. Values are never
// quoted in messages. Hashing and comparing tokens is the API's business.
import type { Kind, Parsed } from './kinds.ts';

export const TOKEN_ROLES = ['viewer', 'operator'] as const;
export type TokenRole = (typeof TOKEN_ROLES)[number];

export interface AdminToken {
  readonly role: TokenRole;
  readonly token: string;
}

const MIN_TOKEN_LENGTH = 16;

function parseEntry(entry: string, position: number): Parsed<AdminToken> {
  const colon = entry.indexOf(':');
  const role = TOKEN_ROLES.find((known) => known === entry.slice(0, colon));
  if (role === undefined) {
    return { ok: false, problem: `entry ${position} does not begin with viewer: or operator:` };
  }
  const token = entry.slice(colon + 1);
  if (token.length < MIN_TOKEN_LENGTH || !/^[\x21-\x7e]+$/.test(token)) {
    return {
      ok: false,
      problem: `the token of entry ${position} must have at least ${MIN_TOKEN_LENGTH} printable characters without spaces`,
    };
  }
  return { ok: true, value: { role, token } };
}

/** `role:token` entries, separated by commas or line ends. */
export function adminTokens(): Kind<readonly AdminToken[]> {
  return {
    accepts: 'role:token entries, comma separated',
    parse: (raw) => {
      const entries = String(raw)
        .split(/[,\n]/)
        .map((entry) => entry.trim())
        .filter((entry) => entry !== '');
      const tokens: AdminToken[] = [];
      for (const [index, entry] of entries.entries()) {
        const parsed = parseEntry(entry, index + 1);
        if (!parsed.ok) return parsed;
        if (tokens.some(({ token }) => token === parsed.value.token)) {
          return { ok: false, problem: `entry ${index + 1} repeats the token of an earlier entry` };
        }
        tokens.push(parsed.value);
      }
      return tokens.length > 0 ? { ok: true, value: tokens } : { ok: false, problem: 'there is no entry' };
    },
  };
}

/** One secret that travels in an HTTP header, or signs one. */
export function secretText(): Kind<string> {
  return {
    accepts: 'printable characters without spaces',
    parse: (raw) => {
      const value = String(raw).trim();
      return /^[\x21-\x7e]+$/.test(value)
        ? { ok: true, value }
        : { ok: false, problem: 'must be printable characters without spaces' };
    },
  };
}
