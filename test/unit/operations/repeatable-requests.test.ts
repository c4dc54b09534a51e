// Requests that may be sent again, over the live store of this process: which one runs, what later ones are answered, and for
// how long a key is held. Time does not pass until the test moves it.
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  type LateAnswer,
  RepeatableRequests,
  type Ticket,
} from '../../../src/operations/repeatable-requests.ts';
import { systemClock } from '../../../src/platform/clock.ts';
import { CardpollError } from '../../../src/platform/errors.ts';
import { openEmbeddedLiveStore } from '../../../src/store/memory/live-store.ts';
import type { LiveStore } from '../../../src/store/ports/live/live-store.ts';

const LEASE_MS = 60_000;
const DAY_MS = 86_400_000;
const MADE = { status: 201, body: '{"id":1}' };
const RUNNING = {
  kind: 'conflict',
  code: 'idempotency_request_running',
  message: 'a request with this Idempotency-Key is still running',
  hint: expect.stringContaining('send it again'),
};

let live: LiveStore;
let requests: RepeatableRequests;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date', 'setInterval', 'clearInterval'] });
  live = openEmbeddedLiveStore({ clock: systemClock });
  requests = new RepeatableRequests(live);
});
afterEach(() => {
  vi.useRealTimers();
});

/** The right to run the request of this key. */
async function ticket(key = 'key', fingerprint = 'POST /x'): Promise<Ticket> {
  const admitted = await requests.admit(key, fingerprint);
  if (admitted.ticket === null) throw new Error('it was answered before');
  return admitted.ticket;
}

describe('a request', () => {
  it('runs when its key is new, and must wait while it runs', async () => {
    const first = await ticket();
    expect(first).toEqual({
      key: 'key',
      fingerprint: 'POST /x',
      attempt: expect.stringMatching(/^[\w-]{36}$/),
    });
    await expect(requests.admit('key', 'POST /x')).rejects.toMatchObject(RUNNING);
    expect((await ticket('another key')).attempt).not.toBe(first.attempt);
  });

  it.each([201, 400, 422])('that was answered %i is answered so again, for a day', async (status) => {
    await requests.finish(await ticket(), { status, body: 'x' });
    vi.advanceTimersByTime(DAY_MS - 1);
    expect(await requests.admit('key', 'POST /x')).toEqual({ ticket: null, answer: { status, body: 'x' } });
    vi.advanceTimersByTime(1);
    await ticket();
  });

  it.each([500, 503])('that failed with %i may be tried again at once', async (status) => {
    await requests.finish(await ticket(), { status, body: 'x' });
    await ticket();
  });

  it('is refused under the key of another one', async () => {
    const other = {
      kind: 'invalid',
      code: 'idempotency_key_reused',
      message: 'this Idempotency-Key was already used for another request',
      hint: expect.stringContaining('new key'),
      fields: [{ field: 'idempotency-key', message: 'was already used for another request' }],
    };
    const running = await ticket();
    await expect(requests.admit('key', 'POST /y')).rejects.toMatchObject(other);
    await requests.finish(running, MADE);
    await expect(requests.admit('key', 'POST /y')).rejects.toMatchObject(other);
  });

  it('whose instance died frees its key after a minute', async () => {
    await ticket();
    vi.advanceTimersByTime(LEASE_MS - 1);
    await expect(requests.admit('key', 'POST /x')).rejects.toMatchObject(RUNNING);
    vi.advanceTimersByTime(1);
    await ticket();
  });
});

describe('work that goes on after its answer', () => {
  it('holds its key however long it takes, also when a renewal fails, and is answered for in the end', async () => {
    const { claim } = live.requests;
    const held = await ticket();
    let end: (answer: LateAnswer) => void = () => {};
    const work = new Promise<LateAnswer>((done) => {
      end = done;
    });
    const over = requests.hold(held, work);
    await vi.advanceTimersByTimeAsync(10 * LEASE_MS);
    live.requests.claim = () => Promise.reject(new Error('away'));
    await vi.advanceTimersByTimeAsync(LEASE_MS / 3);
    live.requests.claim = claim;
    await vi.advanceTimersByTimeAsync(LEASE_MS / 2);
    await expect(requests.admit('key', 'POST /x')).rejects.toMatchObject(RUNNING);
    end({ ...MADE, error: null });
    await over;
    expect(vi.getTimerCount(), 'renewals end').toBe(0);
    expect(await requests.admit('key', 'POST /x')).toEqual({ ticket: null, answer: MADE });
  });

  it.each([
    new CardpollError('unavailable', 'store_timeout', 'slow'),
    new CardpollError('unavailable', 'redis_unreachable_so_far', 'slow'),
    new TypeError('a bug'),
  ])('frees its key at once when it failed: %s', async (error) => {
    await requests.hold(await ticket(), Promise.resolve({ status: 503, body: 'x', error }));
    await ticket();
  });

  it('leaves its key to the lease when it is unknown whether it was done', async () => {
    const error = new CardpollError('unavailable', 'postgres_unreachable', 'away');
    await requests.hold(await ticket(), Promise.resolve({ status: 503, body: 'x', error }));
    expect(vi.getTimerCount(), 'renewals end').toBe(0);
    await expect(requests.admit('key', 'POST /x')).rejects.toMatchObject(RUNNING);
    vi.advanceTimersByTime(LEASE_MS);
    await ticket();
  });

  it('is not renewed any more when its result is unknown', async () => {
    const bug = new TypeError('a bug');
    await expect(requests.hold(await ticket(), Promise.reject(bug))).rejects.toBe(bug);
    expect(vi.getTimerCount()).toBe(0);
  });
});
