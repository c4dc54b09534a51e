// The entries of the audit trail: who changed what. Used by all code that makes changes for an actor, and by the store. Plain
// data.

export interface Actor {
  /** Name of the token, `local` for a server without tokens, `daemon` for actions of cardpoll itself. */
  readonly name: string;
  readonly role: string;
  /** Source address of the request; null: no request, the daemon acted by itself. */
  readonly address: string | null;
  readonly requestId: string | null;
  /** Present for a request that may be sent again. */
  readonly repeat?: Repeat;
  /** The entry that the request undoes; it becomes part of `after`. */
  readonly undoes?: number;
}

/** A request that its client may send again. Its changes are numbered, so that a repeat finds each of them. */
export interface Repeat {
  /** The request's name, chosen by its client; separate for each client. */
  readonly key: string;
  /** Equal for every repeat; a different value means that a client reused the key for another request by mistake. */
  readonly request: string;
  changes: number;
  /** Whether an earlier attempt made a change of it. */
  isRepeat: boolean;
}

/** Suffix of the action of an announced change that failed. */
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
