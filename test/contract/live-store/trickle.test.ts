// The trickle of calls to a dead interface: one a second, of the whole fleet, for a card that may succeed.
import { expect, it } from 'vitest';
import type { LiveStore } from '../../../src/store/ports/live/live-store.ts';
import type { Claim } from '../../../src/store/ports/live/work-queue.ts';
import { waitFor } from '../../support/wait-for.ts';
import { cardIdsOf, claim, describeLiveStore, queueCards, REALNAME, range, settle } from './stores.ts';

let claims = 0;
function trickle(store: LiveStore, instanceId: string): Promise<Claim> {
  claims += 1;
  const request = { instanceId, claimNumber: claims, max: 1, leaseMs: 600_000, trickle: true };
  return store.work.claim(REALNAME, request);
}

describeLiveStore('trickle', (live) => {
  it('gives one card a second to all instances together', async () => {
    await queueCards(live.store, range(20));
    const second = await live.another();
    const grantedAtMs: number[] = [];
    await waitFor(
      async () => {
        const granted = await Promise.all([trickle(live.store, 'w1'), trickle(second, 'w2')]);
        grantedAtMs.push(...granted.flatMap(({ claimedAtMs }) => claimedAtMs ?? []));
        return grantedAtMs.length >= 3;
      },
      { everyMs: 20 },
    );
    const gaps = grantedAtMs.slice(1).map((atMs, i) => atMs - (grantedAtMs[i] ?? 0));
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(1_000);
  });

  it('is not bounded while another instance finds the interface well', async () => {
    await queueCards(live.store, range(50));
    const granted: Claim[] = [];
    await waitFor(
      async () => {
        expect((await claim(live.store, 1, { instanceId: 'well' })).items).toHaveLength(1);
        granted.push(await trickle(live.store, 'w1'));
        const [before, last] = granted.slice(-2).map(({ claimedAtMs }) => claimedAtMs);
        return before != null && last != null && last - before < 1_000;
      },
      { everyMs: 1 },
    );
  });

  it('takes a card that does not fail where there is one, and a failing card otherwise', async () => {
    await queueCards(live.store, range(4));
    const { items } = await claim(live.store, 3);
    await settle(live.store, items, 'failed', { baseMs: 0, capMs: 1 });
    const next = () =>
      waitFor(
        async () => {
          const claimed = await trickle(live.store, 'w1');
          return claimed.items.length > 0 ? claimed.items : null;
        },
        { everyMs: 20 },
      );
    const first = await next();
    expect(first).toMatchObject([{ lane: 'schedule' }]);
    expect(cardIdsOf(first)).not.toEqual(cardIdsOf(items));
    expect(await next()).toMatchObject([{ lane: 'retry' }]);
  });
});
