// Lets a client repeat a changing request when it did not get the answer. A request with a key that the client chooses
// runs once, on any instance; later attempts within a day get the answer of the first. Used by the admin API for POST
// with Idempotency-Key. Does not store an answer that reports a failure or the present state of the service (404, 409): such a
// request is worth a retry.
//
// The keys are in the live store, because every instance needs them within milliseconds, for a day at most, and they
// expire there. When the live store loses its data, or an instance ends before its answer is stored, the request runs again:
// what it changed in the records is found there and not changed again (audit.ts).
import { randomUUID } from 'node:crypto';
import { CardpollError } from '../platform/errors.ts';
import type { RequestAnswer, RequestClaim } from '../store/ports/live/coordination.ts';
import type { LiveStore } from '../store/ports/live/live-store.ts';

const KEEP_ANSWERS_MS = 24 * 3_600_000;
/** The claim is renewed while a request runs; when an instance dies, the key is free after this time. */
const LEASE_MS = 60_000;
const RENEW_MS = LEASE_MS / 3;

/** The code of the refusal of a repeat that comes too early. */
export const REQUEST_RUNNING = 'idempotency_request_running';

/** The right to run a request; return it with the answer. */
export interface Ticket {
  readonly key: string;
  readonly attempt: string;
  readonly fingerprint: string;
}

/** The result of work that continued after its request was answered. */
export interface LateAnswer extends RequestAnswer {
  /** Why the work failed; null when it succeeded. */
  readonly error: unknown;
}

export class RepeatableRequests {
  constructor(private readonly live: LiveStore) {}

  /**
   * @param fingerprint equal for equal requests.
   * @returns the right to run the request, or the answer that an earlier attempt got.
   * @throws CardpollError `invalid` when the key was used for another request, `conflict` while another attempt runs,
   * `unavailable`.
   */
  async admit(key: string, fingerprint: string) {
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
          'this Idempotency-Key was already used for another request',
          {
            hint: 'use a new key for every new request',
            fields: [{ field: 'idempotency-key', message: 'was already used for another request' }],
          },
        );
      case 'running': {
        const hint = `send it again to get its answer; if its instance died, it runs again after ${LEASE_MS / 1_000} s at most`;
        throw new CardpollError(
          'conflict',
          REQUEST_RUNNING,
          'a request with this Idempotency-Key is still running',
          { hint },
        );
      }
    }
  }

  async finish({ key, attempt }: Ticket, answer: RequestAnswer): Promise<void> {
    const { requests } = this.live;
    if (!isAboutRequest(answer)) await requests.abandon(key, attempt);
    else await requests.complete(key, attempt, answer, KEEP_ANSWERS_MS);
  }

  /**
   * Holds the key of a request whose work continues after its answer, until `end` resolves. If the result is unknown,
   * because the store stopped answering, the key stays until its lease ends: a repeat might do the work twice.
   */
  async hold(ticket: Ticket, end: Promise<LateAnswer>): Promise<void> {
    // After a failed renewal there is another one before the lease ends.
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

/** Not about the state of the service, which may be another one at the next attempt. */
function isAboutRequest({ status }: RequestAnswer): boolean {
  return status < 400 || status === 400 || status === 422;
}

function isUnknownOutcome(error: unknown): boolean {
  return error instanceof CardpollError && /_unreachable$/.test(error.code);
}
