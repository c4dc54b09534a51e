// What the Redis user may do: the doctor and a daemon that starts name every right that is missing, and trying them
// changes nothing. That the documented rights are enough is shown by the other suites, which run as that user.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { expect, it } from 'vitest';
import { commandsOn } from '../../../src/store/redis/client/rights.ts';
import { openRedisLiveStore } from '../../../src/store/redis/live-store.ts';
import { freshRedis } from '../../support/fresh-stores.ts';
import { REPOSITORY } from '../../support/markdown.ts';
import { asDocumentedUser } from '../../support/redis-user.ts';
import { describeLiveStore } from './stores.ts';

describeLiveStore('rights', (live) => {
  it('are all there', async () => {
    expect(await live.store.missingRights()).toMatchObject({ needed: [], useful: [] });
  });
});

async function missing(...change: string[]) {
  const server = await freshRedis();
  const store = await openRedisLiveStore({
    url: await asDocumentedUser(server.url, [server.url], ...change),
  });
  const admin = new Redis(server.url);
  const before = await admin.keys('*');
  const found = await store.missingRights();
  expect((await admin.keys('*')).length).toBeLessThanOrEqual(before.length + 1);
  admin.disconnect();
  await store.close();
  return found;
}

it.each([
  [['-zmscore', '-hset'], ['+hset', '+zmscore'], []],
  [['-eval', '-time'], ['+eval', '+time'], []],
  [['resetkeys', '~other:*'], ['~polling:*'], []],
  [['resetchannels'], [], ['&polling:*']],
  [['-publish', '-subscribe'], [], ['+publish', '+subscribe']],
])('with %j the user lacks %j and %j', async (change, needed, useful) => {
  const found = await missing(...change);
  expect(found.user).toBe('cardpoll');
  expect([[...found.needed].sort(), [...found.useful].sort()]).toEqual([needed, useful]);
});

it('a script that meets a missing right says so, not that there is a bug', async () => {
  const server = await freshRedis();
  const store = await openRedisLiveStore({ url: await asDocumentedUser(server.url, [server.url], '-hset') });
  await expect(store.coordination.lead('scheduler', 'a', 1_000)).rejects.toMatchObject({
    kind: 'config',
    code: 'redis_not_permitted',
  });
  await store.close();
});

it('every command of the adapters and scripts is tried, but INFO, which they can do without', () => {
  const folder = join(REPOSITORY, 'src/store/redis');
  const sources = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(lua|ts)$/.test(name) && name !== 'rights.ts')
    .map((name) => readFileSync(join(folder, name), 'utf8'));
  const used = sources.flatMap((text) =>
    [...text.matchAll(/(?:\bp?call|\bcommand|\bsend)\(\s*'([A-Z]+)'/g)].map(([, name]) => name),
  );
  const tried = commandsOn('k').map(([name]) => name);
  expect(new Set(used).size).toBeGreaterThan(30);
  expect(used.filter((name) => ![...tried, 'SET', 'PUBLISH', 'PING', 'INFO'].includes(`${name}`))).toEqual(
    [],
  );
});

it('a replica that takes no writes lacks no right', async () => {
  const master = await freshRedis();
  const replica = await freshRedis({ args: ['--replicaof', '127.0.0.1', String(master.port)] });
  const store = await openRedisLiveStore({ url: replica.url });
  expect(await store.missingRights()).toEqual({ user: 'default', needed: [], useful: [] });
  await store.close();
});
