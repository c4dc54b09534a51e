// Claims of requests that may be sent again, in this process's memory. Past MAX_REQUESTS the oldest are removed.
import type { Clock } from '../../../platform/clock.ts';
import type { RequestAnswer, RequestClaim, RequestClaims } from '../../ports/live/request-claims.ts';

const MAX_REQUESTS = 10_000;

interface Entry {
  readonly attempt: string;
  readonly fingerprint: string;
  readonly answer: RequestAnswer | null;
  readonly expiresMs: number;
}

export class EmbeddedRequestClaims implements RequestClaims {
  readonly #entries = new Map<string, Entry>();

  constructor(private readonly clock: Clock) {}

  async claim(
    key: string,
    { attempt, fingerprint, leaseMs }: { attempt: string; fingerprint: string; leaseMs: number },
  ): Promise<RequestClaim> {
    const known = this.#live(key);
    if (known !== null) {
      if (known.fingerprint !== fingerprint) return { state: 'different' };
      if (known.answer !== null) return { state: 'answered', answer: known.answer };
      if (known.attempt !== attempt) return { state: 'running' };
    }
    this.#put(key, { attempt, fingerprint, answer: null, expiresMs: this.clock.now() + leaseMs });
    return { state: 'granted' };
  }

  async complete(key: string, attempt: string, answer: RequestAnswer, keepMs: number): Promise<void> {
    const known = this.#live(key);
    if (known?.attempt === attempt)
      this.#put(key, { ...known, answer, expiresMs: this.clock.now() + keepMs });
  }

  async abandon(key: string, attempt: string): Promise<void> {
    const known = this.#live(key);
    if (known?.attempt === attempt && known.answer === null) this.#entries.delete(key);
  }

  #live(key: string): Entry | null {
    const entry = this.#entries.get(key);
    return entry !== undefined && entry.expiresMs > this.clock.now() ? entry : null;
  }

  #put(key: string, entry: Entry): void {
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= MAX_REQUESTS) break;
      this.#entries.delete(oldest);
    }
  }
}
