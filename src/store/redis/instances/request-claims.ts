// Claims of requests that may be sent again, in Redis: one hash for each key, which expires.
import type { RequestClaim, RequestClaims } from '../../ports/live/request-claims.ts';
import type { RedisClient } from '../client/client.ts';
import type { Keys } from '../keys.ts';

export function redisRequestClaims(client: RedisClient, keys: Keys): RequestClaims {
  return {
    async claim(key, { attempt, fingerprint, leaseMs }) {
      const reply = await client.script('requestClaim', [keys.request(key)], [attempt, fingerprint, leaseMs]);
      const [state, status, body] = reply as [RequestClaim['state'], string?, string?];
      return state === 'answered'
        ? { state, answer: { status: Number(status), body: body ?? '' } }
        : { state };
    },

    async complete(key, attempt, { status, body }, keepMs) {
      await client.script('requestComplete', [keys.request(key)], [attempt, status, body, keepMs]);
    },

    async abandon(key, attempt) {
      await client.script('requestAbandon', [keys.request(key)], [attempt]);
    },
  };
}
