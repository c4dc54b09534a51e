// Who changed what: the entries of the audit trail. Used by all code that makes changes for an actor, and by the store.
// Plain data.

export interface Actor {
  /** Name of the token, `local` for a server without tokens, `daemon` for actions of cardpoll itself. */
  readonly name: string;
  readonly role: string;
  /** Source address of the request; null: there was none, the daemon acted by itself. */
  readonly address: string | null;
  readonly requestId: string | null;
  /** Present for a request that may be sent again. */
  readonly repeat?: Repeat;
  /** The entry that the request takes back; it becomes part of `after`. */
  readonly undoes?: number;
}

/** Numbers the changes of a request, so that a repeat of the request finds each. */
interface Repeat {
  /** The same for each repeat, and for no other request. */
  readonly key: string;
  changes: number;
}

/** The actor of cardpoll's own actions. */
export const DAEMON: Actor = { name: 'daemon', role: 'daemon', address: null, requestId: null };

export interface AuditChange {
  /** `what.verb`, for example `concurrency.set`. A change that failed ends in `.failed`. */
  readonly action: string;
  /** The object of the change, for example `config 3`. */
  readonly object: string;
  /** The data without secrets; null: none. */
  readonly before: unknown;
  readonly after: unknown;
}

export interface AuditEntry extends Omit<Actor, 'repeat' | 'undoes'>, AuditChange {
  readonly atMs: number;
}
