// Copies of all that a Redis has, which can be put back.
import type { Redis } from 'ioredis';
import type { LiveCopy } from './world-live.ts';

export async function copyOfAll(connection: Redis): Promise<LiveCopy> {
  const keys = (await connection.keys('*')).sort();
  const entries = await Promise.all(
    keys.map(async (key) => {
      const [dump, endsAt] = await Promise.all([connection.dumpBuffer(key), connection.pexpiretime(key)]);
      return { key, dump, endsAt };
    }),
  );
  // Sent in one go, before anything else is.
  return () => {
    void connection.flushall();
    for (const { key, dump, endsAt } of entries)
      void connection.restore(key, Math.max(0, endsAt), dump, 'ABSTTL');
  };
}
