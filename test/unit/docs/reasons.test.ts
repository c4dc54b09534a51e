// docs/health.md has a row for each reason of the table in src/domain/reasons.ts, with the severity that the table gives.
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { REASON_CODES, reasonRow } from '../../../src/domain/reasons.ts';

const PAGE = readFileSync(new URL('../../../docs/health.md', import.meta.url), 'utf8');

it('has a row for each reason, with its severity', () => {
  const rows = [...PAGE.matchAll(/^\| *(`[^|]+`) *\| *(warning|alert|warning or alert) *\|/gm)];
  const documented = rows.flatMap(([, codes = '', severity]) =>
    [...codes.matchAll(/`(\w+)`/g)].map(([, code]) => `${code}: ${severity}`),
  );
  const known = REASON_CODES.map((code) => `${code}: ${reasonRow(code).severity}`);
  expect(documented.sort()).toEqual(known.sort());
});

it('knows nothing of a code that an instance of another version sends', () => {
  expect(reasonRow('constructor_of_another_version')).toEqual({});
});
