import { expect, it } from 'vitest';
import { describeRecordStore } from './stores.ts';

describeRecordStore('the clock', (db) => {
  it('is the database’s own, in epoch milliseconds', async () => {
    expect(Math.abs((await db.store.now()) - Date.now())).toBeLessThan(5_000);
  });
});
