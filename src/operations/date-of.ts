// Stores keep milliseconds since 1970, operators read times: a Date becomes RFC 3339 at the edges. Used by everything in
// this folder whose time may be missing.

export function dateOf(ms: number | null | undefined): Date | null {
  return ms === null || ms === undefined ? null : new Date(ms);
}
