// Lets a client send a changing request again when it did not hear the answer: a request with a key of the client's
// choice runs once, on whichever instance it arrives; later attempts within a day get the first one's answer. Used by
// the admin API for POST with Idempotency-Key. Keeps no answer that says the service failed: those are worth a try.
//
// Kept in the live store: claim and answer are wanted within milliseconds, by every instance, for a day at most, and
// its keys end by themselves. What a lost live store forgets is no worse than a request without a key.
import { randomUUID } from 'node:crypto';
import { CardpollError } from '../platform/errors.ts';
import type { LiveStore } from '../store/ports/live/live-store.ts';
import type { RequestAnswer, RequestClaim } from '../store/ports/live/request-claims.ts';

const KEEP_ANSWERS_MS = 24 * 3_600_000;
/** Renewed while a request runs; after it the key of an instance that died is free. */
const LEASE_MS = 60_000;
const RENEW_MS = LEASE_MS / 3;

/** The right to run a request, to be given back with its answer. */
export interface Ticket {
  readonly key: string;
  readonly attempt: string;
  readonly fingerprint: string;
}

/** How work ended that went on after its request was answered. */
export interface LateAnswer extends RequestAnswer {
  /** Why it failed; null when it did not. */
  readonly error: unknown;
}

type Admission =
  | { readonly ticket: Ticket; readonly answer: null }
  | { readonly ticket: null; readonly answer: RequestAnswer };

export class RepeatableRequests {
  constructor(private readonly live: LiveStore) {}

  /**
   * @param fingerprint equal for equal requests.
   * @returns the right to run the request, or the answer it got before.
   * Throws `invalid` for a key that stands for another request, `conflict` while another attempt runs, `unavailable`.
   */
  async admit(key: string, fingerprint: string): Promise<Admission> {
    const ticket = { key, attempt: randomUUID(), fingerprint };
    const claim = await this.#claim(ticket);
    switch (claim.state) {
      case 'granted':
        return { ticket, answer: null };
      case 'answered':
        return { ticket: null, answer: claim.answer };
      case 'different':
        throw new CardpollError(
          'invalid',
          'idempotency_key_reused',
          'this Idempotency-Key was sent with another request before',
          {
            hint: 'use a new key for every new request',
            fields: [{ field: 'idempotency-key', message: 'stands for another request' }],
          },
        );
      case 'running':
        throw new CardpollError(
          'conflict',
          'idempotency_request_running',
          'a request with this Idempotency-Key is still running',
          { hint: 'send it again in a second to get its answer' },
        );
    }
  }

  async finish({ key, attempt }: Ticket, answer: RequestAnswer): Promise<void> {
    const { requests } = this.live;
    if (answer.status >= 500) await requests.abandon(key, attempt);
    else await requests.complete(key, attempt, answer, KEEP_ANSWERS_MS);
  }

  /**
   * Holds the key of a request whose work outlives its answer until `end` tells how it ended. Where that is not known,
   * because the store went silent over it, the key is left to its lease: a repeat at once might do the work twice.
   */
  async hold(ticket: Ticket, end: Promise<LateAnswer>): Promise<void> {
    // A renewal that fails is followed by another one before the lease is over.
    const renewal = setInterval(() => void this.#claim(ticket).catch(() => {}), RENEW_MS);
    renewal.unref();
    try {
      const { error, ...answer } = await end;
      if (!isUnknownOutcome(error)) await this.finish(ticket, answer);
    } finally {
      clearInterval(renewal);
    }
  }

  #claim({ key, attempt, fingerprint }: Ticket): Promise<RequestClaim> {
    return this.live.requests.claim(key, { attempt, fingerprint, leaseMs: LEASE_MS });
  }
}

function isUnknownOutcome(error: unknown): boolean {
  return error instanceof CardpollError && /_unreachable$/.test(error.code);
}
