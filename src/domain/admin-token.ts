// The stored form of a token for the admin API. The settings make it, the API compares it.

/** Each role adds a right: to read; to change how polling runs; to change what is polled and kept. */
export const TOKEN_ROLES = ['viewer', 'operator', 'admin'] as const;
export type TokenRole = (typeof TOKEN_ROLES)[number];

export interface AdminToken {
  readonly name: string;
  readonly role: TokenRole;
  /** SHA-256 of the token, hexadecimal. */
  readonly hash: string;
  /** The first instant at which it is no longer valid; null: it never expires. */
  readonly expiresAtMs: number | null;
}
