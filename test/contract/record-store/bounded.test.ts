import { describe, expect, it } from 'vitest';
import { openPostgresRecordStore } from '../../../src/store/postgres/record-store.ts';
import { freshDatabase } from '../../support/fresh-stores.ts';
import { waitFor } from '../../support/wait-for.ts';

describe('a store that uses some of the connections', () => {
  it('leaves the rest to others, and serves its own in turn', async () => {
    const store = await openPostgresRecordStore({
      url: await freshDatabase(),
      applicationName: 'cardpoll',
      maxConnections: 3,
    });
    await store.migrations.up();
    const bounded = store.bounded(2);
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    let holding = 0;
    // Each holds its connection; the turns of inTurn are one by one, so that these wait in the database.
    const held = Array.from({ length: 10 }, () =>
      bounded.inTurn(async () => {
        holding += 1;
        await released;
      }),
    );
    await waitFor(() => holding === 1);
    let isOver = false;
    const own = bounded.ping().then(() => {
      isOver = true;
    });
    await store.ping();
    expect([holding, isOver]).toEqual([1, false]);
    release();
    await Promise.all([...held, own]);
    expect(holding).toBe(10);
    await store.close();
  });
});
