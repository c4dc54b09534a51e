// Claims of requests that may be sent again, in Redis: one hash for each key, which expires.
import type { RequestAnswer, RequestClaim, RequestClaims } from '../../ports/live/request-claims.ts';
import type { RedisClient } from '../client/client.ts';
import type { Keys } from '../keys.ts';

export class RedisRequestClaims implements RequestClaims {
  constructor(
    private readonly client: RedisClient,
    private readonly keys: Keys,
  ) {}

  async claim(
    key: string,
    { attempt, fingerprint, leaseMs }: { attempt: string; fingerprint: string; leaseMs: number },
  ): Promise<RequestClaim> {
    const reply = await this.client.script(
      'requestClaim',
      [this.keys.request(key)],
      [attempt, fingerprint, leaseMs],
    );
    const [state, status, body] = reply as [RequestClaim['state'], string?, string?];
    return state === 'answered' ? { state, answer: { status: Number(status), body: body ?? '' } } : { state };
  }

  async complete(key: string, attempt: string, answer: RequestAnswer, keepMs: number): Promise<void> {
    const args = [attempt, answer.status, answer.body, keepMs];
    await this.client.script('requestComplete', [this.keys.request(key)], args);
  }

  async abandon(key: string, attempt: string): Promise<void> {
    await this.client.script('requestAbandon', [this.keys.request(key)], [attempt]);
  }
}
