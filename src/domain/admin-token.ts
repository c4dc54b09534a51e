// Who may use the admin API: what is kept of a token. Settings make it, the API compares it.

/** What each may do more than the one before it: read; change how polling runs; change what is polled and kept. */
export const TOKEN_ROLES = ['viewer', 'operator', 'admin'] as const;
export type TokenRole = (typeof TOKEN_ROLES)[number];

export interface AdminToken {
  readonly name: string;
  readonly role: TokenRole;
  /** SHA-256 of the token, hexadecimal. */
  readonly hash: string;
  /** The first instant at which it is no longer valid; null: it always is. */
  readonly expiresAtMs: number | null;
}
