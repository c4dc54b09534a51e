// The part of a webhook URL that may be shown: not its path or query, which often hold secrets. Used by the sender's log,
// the audit trail, and the API for viewers.

/** Scheme, host and port; null when the text is not a URL, which plain SQL may have written. */
export function receiverOf(webhookUrl: string): string | null {
  return URL.canParse(webhookUrl) ? new URL(webhookUrl).origin : null;
}
