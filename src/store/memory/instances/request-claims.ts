// Claims of requests that may be sent again, in this process's memory. Past MAX_REQUESTS the oldest are removed.
import type { Clock } from '../../../platform/clock.ts';
import type { RequestAnswer, RequestClaims } from '../../ports/live/request-claims.ts';

const MAX_REQUESTS = 10_000;

interface Entry {
  readonly attempt: string;
  readonly fingerprint: string;
  readonly answer: RequestAnswer | null;
  readonly expiresMs: number;
}

export function embeddedRequestClaims(clock: Clock): RequestClaims {
  const entries = new Map<string, Entry>();

  function live(key: string): Entry | null {
    const entry = entries.get(key);
    return entry !== undefined && entry.expiresMs > clock.now() ? entry : null;
  }

  function put(key: string, entry: Entry): void {
    entries.delete(key);
    entries.set(key, entry);
    for (const oldest of entries.keys()) {
      if (entries.size <= MAX_REQUESTS) break;
      entries.delete(oldest);
    }
  }

  return {
    async claim(key, { attempt, fingerprint, leaseMs }) {
      const known = live(key);
      if (known !== null) {
        if (known.fingerprint !== fingerprint) return { state: 'different' };
        if (known.answer !== null) return { state: 'answered', answer: known.answer };
        if (known.attempt !== attempt) return { state: 'running' };
      }
      put(key, { attempt, fingerprint, answer: null, expiresMs: clock.now() + leaseMs });
      return { state: 'granted' };
    },

    async complete(key, attempt, answer, keepMs) {
      const known = live(key);
      if (known?.attempt === attempt) put(key, { ...known, answer, expiresMs: clock.now() + keepMs });
    },

    async abandon(key, attempt) {
      const known = live(key);
      if (known?.attempt === attempt && known.answer === null) entries.delete(key);
    },
  };
}
