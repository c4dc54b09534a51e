// Who changed what: the words of the audit trail. Used by everything that changes something for somebody, and by the
// store that keeps it. Plain data.

export interface Actor {
  /** Name of the token, `local` for a server without tokens, `daemon` for what cardpoll does by itself. */
  readonly name: string;
  readonly role: string;
  /** Where the request came from; null: from nowhere, the daemon acted by itself. */
  readonly address: string | null;
  readonly requestId: string | null;
}

/** cardpoll on its own authority. */
export const DAEMON: Actor = { name: 'daemon', role: 'daemon', address: null, requestId: null };

export interface AuditChange {
  /** `what.verb`, as in `concurrency.set`. One that did not come about after all ends in `.failed`. */
  readonly action: string;
  /** What was changed, as in `config 3`. */
  readonly object: string;
  /** Data without secrets; null: there was, or is, nothing. */
  readonly before: unknown;
  readonly after: unknown;
}

export interface AuditEntry extends Actor, AuditChange {
  readonly atMs: number;
}
