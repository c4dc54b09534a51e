// Added work is signalled to all instances, whichever instance added it.
import { Redis } from 'ioredis';
import { expect, it } from 'vitest';
import { openRedisLiveStore } from '../../../src/store/redis/live-store.ts';
import { freshRedis } from '../../support/fresh-stores.ts';
import { waitFor } from '../../support/wait-for.ts';
import { describeLiveStore, queueCards, REALNAME } from './stores.ts';

describeLiveStore('work signal', (live) => {
  it('signals manual entries and due cards to the listeners', async () => {
    const other = await live.another();
    const heard = { realname: 0, package: 0, gone: 0 };
    live.store.work.onWork(REALNAME, () => {
      heard.realname += 1;
    });
    live.store.work.onWork('package', () => {
      heard.package += 1;
    });
    const leave = live.store.work.onWork(REALNAME, () => {
      heard.gone += 1;
    });
    leave();
    // The first messages may come before the subscription.
    await waitFor(async () => {
      await other.manual.push(REALNAME, ['1']);
      return heard.realname > 0;
    });
    heard.realname = 0;
    await queueCards(other, [7]);
    await waitFor(() => heard.realname > 0, { what: 'word of the card that became due' });
    await waitFor(async () => {
      await other.manual.push('package', ['1']);
      return heard.package > 0;
    });
    expect(heard.gone).toBe(0);
  });
});

it('goes on after the connection of the subscriber broke', async () => {
  const server = await freshRedis();
  const store = await openRedisLiveStore({ url: server.url });
  const admin = new Redis(server.url);
  let heard = 0;
  store.work.onWork(REALNAME, () => {
    heard += 1;
  });
  const hears = () =>
    waitFor(async () => {
      const before = heard;
      await store.manual.push(REALNAME, ['1']);
      await new Promise((resolve) => setImmediate(resolve));
      return heard > before;
    });
  await hears();
  expect(await admin.call('CLIENT', 'KILL', 'TYPE', 'pubsub')).toBe(1);
  await hears();
  await server.kill();
  await server.start();
  await hears();
  await store.close();
  admin.disconnect();
});

it('a user that may not publish still adds work', async () => {
  const server = await freshRedis();
  const admin = new Redis(server.url);
  await admin.call('ACL', 'SETUSER', 'narrow', 'on', '>secret', '~*', '+@all', 'resetchannels');
  const store = await openRedisLiveStore({ url: server.url.replace('redis://', 'redis://narrow:secret@') });
  store.work.onWork(REALNAME, () => expect.unreachable());
  await store.manual.push(REALNAME, ['1']);
  await queueCards(store, [1]);
  expect(await store.work.counts(REALNAME)).toMatchObject({ due: 1, manualLength: 1 });
  await store.close();
  admin.disconnect();
});
