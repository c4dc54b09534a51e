// The durable limits come back into force after the live store lost its data.
import { expect, it } from 'vitest';
import { seedLimits } from '../../../../src/engine/limits/seed-limits.ts';
import { systemClock } from '../../../../src/platform/clock.ts';
import { openEmbeddedLiveStore } from '../../../../src/store/memory/live-store.ts';
import { openPostgresRecordStore } from '../../../../src/store/postgres/record-store.ts';
import { freshDatabase } from '../../../support/fresh-stores.ts';

it('sets limits that are missing, and none that is set', async () => {
  const records = await openPostgresRecordStore({ url: await freshDatabase(), applicationName: 'cardpoll' });
  await records.migrations.up();
  await records.configs.setConcurrency('realname', 20);
  await records.configs.setConcurrency('package', 30);
  const { work } = openEmbeddedLiveStore({ clock: systemClock });
  await work.setMaxConcurrency('package', 7);
  await seedLimits({ work, records, ceiling: null });
  expect((await work.counts('realname')).maxConcurrency).toBe(20);
  expect((await work.counts('package')).maxConcurrency).toBe(7);
  await records.close();
});
