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

/** A request that its client may send again. Its changes are numbered, so that a repeat finds each. */
export interface Repeat {
  /** What the client chose as its name; that of another client is another one. */
  readonly key: string;
  /** The same for every repeat; a client that uses a key for another request makes a mistake. */
  readonly request: string;
  changes: number;
  /** Whether a change of it was made by an earlier attempt. */
  isRepeat: boolean;
}

/** Ends the action of a change that was announced and did not come about. */
export const FAILED = '.failed';

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
