// The durable limits come back into force after the live store lost its data.
import { expect, it } from 'vitest';
import { LimitKeeper } from '../../../../src/engine/limits/limit-keeper.ts';
import { systemClock } from '../../../../src/platform/clock.ts';
import { openEmbeddedLiveStore } from '../../../../src/store/memory/live-store.ts';
import { openPostgresRecordStore } from '../../../../src/store/postgres/record-store.ts';
import { freshDatabase } from '../../../support/fresh-stores.ts';

it('sets limits that are missing, on the leader, and none that is set', async () => {
  const records = await openPostgresRecordStore({ url: await freshDatabase(), applicationName: 'cardpoll' });
  await records.migrations.up();
  await records.configs.setConcurrency('realname', 20);
  await records.configs.setConcurrency('package', 30);
  const { work } = openEmbeddedLiveStore({ clock: systemClock });
  await work.setMaxConcurrency('package', 7);
  let fence: number | null = null;
  const keeper = new LimitKeeper({
    clock: systemClock,
    work,
    records: records.configs,
    fence: () => fence,
    onError: (error) => expect.unreachable(String(error)),
  });
  await keeper.runOnce();
  expect((await work.counts('realname')).maxConcurrency).toBeNull();
  fence = 1;
  await keeper.runOnce();
  expect((await work.counts('realname')).maxConcurrency).toBe(20);
  expect((await work.counts('package')).maxConcurrency).toBe(7);
  await records.close();
});
