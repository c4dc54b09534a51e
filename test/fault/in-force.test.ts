// What operators set is in force after every loss of the live store: two daemons with a ceiling, a Redis that fails over to a
// replica that lacks the last orders, or comes back as it was before them. The gateway counts.
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { afterEach, expect, it } from 'vitest';
import { BreakableLink } from '../support/breakable-link.ts';
import { freshRedis } from '../support/fresh-stores.ts';
import { startLimitedFleet } from '../support/limited-fleet.ts';
import { expectOrdersInForce, orderFirst, orderThen } from '../support/operators-orders.ts';

const closing: Array<() => unknown> = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

it('a replica without the last orders is promoted: they are in force within seconds', async () => {
  const replica = await freshRedis();
  const client = new Redis(replica.url);
  closing.push(() => client.disconnect());
  let toRedis: BreakableLink | undefined;
  const limited = await startLimitedFleet({
    ceiling: 30,
    async through({ redisServer }) {
      toRedis = await BreakableLink.to(redisServer.port);
      return { CARDPOLL_REDIS_URL: toRedis.around(redisServer.url) };
    },
  });
  closing.push(() => limited.close());
  const { redisServer } = limited.fleet;
  const replication = await BreakableLink.to(redisServer.port);
  closing.push(
    () => replication.close(),
    () => toRedis?.close(),
  );
  await client.replicaof('127.0.0.1', replication.port);

  await orderFirst(limited, client);
  replication.swallow();
  await orderThen(limited);
  expect(await client.get('polling:concurrency:config:carddata'), 'what the replica has').toBe('40');
  await client.replicaof('NO', 'ONE');
  toRedis?.leadTo(replica.port);
  toRedis?.cut();
  toRedis?.restore();

  await expectOrdersInForce(limited);
});

it('Redis comes back as it was before the last orders: they are in force within seconds', async () => {
  const limited = await startLimitedFleet({ ceiling: 30 });
  closing.push(() => limited.close());
  const { redis, redisServer } = limited.fleet;
  await orderFirst(limited, redis);
  await redis.save();
  const file = join(redisServer.dir, 'dump.rdb');
  copyFileSync(file, `${file}.old`);
  await orderThen(limited);
  await redisServer.kill();
  copyFileSync(`${file}.old`, file);
  await redisServer.start();

  await expectOrdersInForce(limited);
});
