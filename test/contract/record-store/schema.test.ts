// docs/schema.sql is what the migrations make of an empty database. `npm run schema` writes it anew.
import { expect, it } from 'vitest';
import { openPostgresRecordStore } from '../../../src/store/postgres/record-store.ts';
import { describeSchema } from '../../support/describe-schema.ts';
import { emptyDatabase } from '../../support/fresh-stores.ts';

const HEADER = `-- What the migrations make of an empty database; what a table and its columns mean stands with them, in
-- src/store/sql/migrations/. Generated: npm run schema. Partitions, one a month, are left out.`;

it('docs/schema.sql is what the migrations make', async () => {
  const url = await emptyDatabase();
  const records = await openPostgresRecordStore({ url, applicationName: 'cardpoll-test' });
  try {
    await records.migrations.up();
  } finally {
    await records.close();
  }
  const schema = `${HEADER}\n\n${await describeSchema(url)}\n`;
  await expect(schema).toMatchFileSnapshot('../../../docs/schema.sql');
});
