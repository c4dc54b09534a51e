// Requests that may be sent again: each key runs once, on whichever client it arrives.
import { expect, it } from 'vitest';
import { waitFor } from '../../support/wait-for.ts';
import { describeLiveStore, range } from './stores.ts';

const LEASE = { leaseMs: 60_000 };
const DAY_MS = 86_400_000;
const ANSWER = { status: 202, body: '{"trigger_id":"停机 \\u0000"}' };

describeLiveStore('requests', (live) => {
  const claim = (key: string, attempt: string, fingerprint = 'f', leaseMs = LEASE.leaseMs) =>
    live.store.requests.claim(key, { attempt, fingerprint, leaseMs });

  it('grants a key to one attempt, the same again when it is sent twice', async () => {
    const other = await live.another();
    expect(await claim('k', 'a')).toEqual({ state: 'granted' });
    expect(await claim('k', 'a')).toEqual({ state: 'granted' });
    expect(await other.requests.claim('k', { attempt: 'b', fingerprint: 'f', ...LEASE })).toEqual({
      state: 'running',
    });
    expect(await claim('other-key', 'b')).toEqual({ state: 'granted' });
  });

  it('grants it to one of many', async () => {
    const clients = await Promise.all(range(5).map(() => live.another()));
    const claims = await Promise.all(
      clients.map((store, i) =>
        store.requests.claim('k', { attempt: `attempt-${i}`, fingerprint: 'f', ...LEASE }),
      ),
    );
    expect(claims.filter(({ state }) => state === 'granted')).toHaveLength(1);
  });

  it('gives the answer to every later attempt', async () => {
    await claim('k', 'a');
    await live.store.requests.complete('k', 'a', ANSWER, DAY_MS);
    await live.store.requests.complete('k', 'a', ANSWER, DAY_MS);
    const other = await live.another();
    const seen = await other.requests.claim('k', { attempt: 'b', fingerprint: 'f', ...LEASE });
    expect(seen).toEqual({ state: 'answered', answer: ANSWER });
  });

  it('recognises another request with the same key, running or answered', async () => {
    await claim('k', 'a', 'f');
    expect(await claim('k', 'b', 'g')).toEqual({ state: 'different' });
    await live.store.requests.complete('k', 'a', ANSWER, DAY_MS);
    expect(await claim('k', 'b', 'g')).toEqual({ state: 'different' });
  });

  it('frees an abandoned key, but not one that was answered or is another attempt’s', async () => {
    await claim('k', 'a');
    await live.store.requests.abandon('k', 'b');
    expect(await claim('k', 'b')).toEqual({ state: 'running' });
    await live.store.requests.abandon('k', 'a');
    expect(await claim('k', 'b', 'g')).toEqual({ state: 'granted' });
    await live.store.requests.complete('k', 'b', ANSWER, DAY_MS);
    await live.store.requests.abandon('k', 'b');
    expect(await claim('k', 'c', 'g')).toMatchObject({ state: 'answered' });
  });

  it('a claim whose holder died ends by itself, and the late answer is not kept', async () => {
    await claim('k', 'dead', 'f', 100);
    await waitFor(async () => (await claim('k', 'b')).state === 'granted');
    await live.store.requests.complete('k', 'dead', ANSWER, DAY_MS);
    expect(await claim('k', 'c')).toEqual({ state: 'running' });
  });

  it('forgets an answer after its time', async () => {
    await claim('k', 'a');
    await live.store.requests.complete('k', 'a', ANSWER, 100);
    await waitFor(async () => (await claim('k', 'b')).state === 'granted');
  });
});

describeLiveStore('the clock', (live) => {
  it('is the store’s own, in epoch milliseconds', async () => {
    expect(Math.abs((await live.store.now()) - Date.now())).toBeLessThan(5_000);
  });
});
