// Copies of all that a Redis has, which can be put back.
import type { Redis } from 'ioredis';

/** @returns what puts back all that is there now, in the place of what is there then */
export async function keepAll(connection: Redis): Promise<() => void> {
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
