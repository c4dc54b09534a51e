// What of a webhook's URL may be shown: not its path or query, where receivers keep their secrets. Used by the sender's
// log, the audit trail, and the API for viewers.

/** Scheme, host and port; null where it is no URL, as plain SQL may leave it. */
export function receiverOf(webhookUrl: string): string | null {
  return URL.canParse(webhookUrl) ? new URL(webhookUrl).origin : null;
}
