import { expect, it } from 'vitest';
import { ConfigMatcher } from '../../../src/domain/polling-config.ts';
import { CardSync } from '../../../src/engine/card-sync.ts';
import { systemClock } from '../../../src/platform/clock.ts';
import { openEmbeddedLiveStore } from '../../../src/store/memory/live-store.ts';
import type { RecordStore } from '../../../src/store/ports/record-store.ts';
import { claim, queueCards, REALNAME, settle } from '../../contract/live-store/stores.ts';

it('forgets the failures of cards that are removed', async () => {
  const live = openEmbeddedLiveStore({ clock: systemClock });
  await queueCards(live, [1, 2]);
  await settle(live, (await claim(live, 2)).items, 'failed', { baseMs: 60_000, capMs: 1e9 });
  expect(await live.work.counts(REALNAME)).toMatchObject({ backoff: 2 });
  const pages = [
    { changed: [], removed: [2], mark: 'b' },
    { changed: [], removed: [], mark: 'c' },
  ];
  const sync = new CardSync({
    live,
    records: { cards: { changesSince: async () => pages.shift() } as unknown as RecordStore['cards'] },
    configs: () => [],
    matcher: () => new ConfigMatcher([]),
    requireLead: () => {},
  });
  expect(await sync.follow('a', [])).toEqual({ mark: 'c', caughtUp: true });
  expect(await live.work.counts(REALNAME)).toMatchObject({ backoff: 1 });
});
