// docs/contract.md, "Fields", names every field of the reports it documents, and no other.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { wireSchema } from '../../../src/api/schemas/answers.ts';
import { TASK_TYPES } from '../../../src/domain/task-type.ts';
import { IMPORT_COLUMNS } from '../../../src/operations/cards/import-columns.ts';
import { alertReport, alertRuleReport } from '../../../src/resources/alerts.ts';
import { cardReport, importReport } from '../../../src/resources/cards.ts';
import { cleanupPreview, cleanupProgress, retention } from '../../../src/resources/cleanup.ts';
import { concurrencyLimit, maintenanceReport, slotReset } from '../../../src/resources/limits.ts';
import { plan } from '../../../src/resources/plan.ts';
import { shiftReport } from '../../../src/resources/report.ts';
import { configReport, initState } from '../../../src/resources/schedule.ts';
import { overview } from '../../../src/resources/stats.ts';
import {
  dismissReport,
  orderedStopReport,
  releaseReport,
  resumePreview,
  resumeRunReport,
  stopModeReport,
  stopReport,
} from '../../../src/resources/stops.ts';
import { batchReport } from '../../../src/resources/triggers.ts';
import { REPOSITORY } from '../../support/markdown.ts';

/** A section, its reports, and the words in it that are no field and no value of one. */
const SECTIONS: ReadonlyArray<readonly [title: string, reports: readonly z.ZodType[], others: string]> = [
  ['Statistics', [overview, initState], 'GET polling stats queues init progress gateway'],
  ['Plan', [plan], 'cards add interval carddata package'],
  ['Concurrency', [concurrencyLimit, slotReset], 'reset'],
  [
    'Maintenance',
    [maintenanceReport],
    'GET maintenance POST from seconds maintenance_overlaps maintenance_id resume in_maintenance',
  ],
  ['Polling configs', [configReport], ''],
  ['Alert rules and history', [alertRuleReport, alertReport], 'standard'],
  ['Cleanup', [retention, cleanupPreview, cleanupProgress], 'preview trigger progress'],
  ['Manual triggers', [batchReport], ''],
  ['Cards', [cardReport], 'task_type time'],
  [
    'Stops',
    [
      stopReport,
      stopModeReport,
      releaseReport,
      dismissReport,
      resumeRunReport,
      resumePreview,
      orderedStopReport,
    ],
    'PUT release dismiss resume cancel card_ids all true stops dry_run until within',
  ],
  ['Report', [shiftReport], 'GET report not_measured'],
  [
    'Import columns',
    [importReport],
    `${IMPORT_COLUMNS.join(' ')} dry_run true false ignore_columns overwrite_verified`,
  ],
];

const page = readFileSync(join(REPOSITORY, 'docs/contract.md'), 'utf8');

describe.each(SECTIONS)('%s', (title, reports, others) => {
  const written = wordsIn(sectionOf(title));
  const schemas = reports.map((report) => z.toJSONSchema(wireSchema(report)));

  it('names every field', () => {
    const fields = schemas.flatMap(fieldsOf).filter((field) => !TASK_TYPES.some((type) => type === field));
    expect([...new Set(fields)].filter((field) => !written.includes(field))).toEqual([]);
  });

  it('names nothing else', () => {
    const known = new Set([...schemas.flatMap(fieldsOf), ...schemas.flatMap(valuesOf), ...others.split(' ')]);
    expect(written.filter((word) => !known.has(word))).toEqual([]);
  });
});

function sectionOf(title: string): string {
  const [, section] = page.split(`### ${title}\n`);
  if (section === undefined) throw new Error(`docs/contract.md has no section "${title}"`);
  return section.split('\n##')[0] ?? '';
}

/** The words of all that is set as code. */
function wordsIn(section: string): string[] {
  return [...section.matchAll(/`([^`]+)`/g)].flatMap(([, code = '']) => code.match(/[A-Za-z]\w*/g) ?? []);
}

function fieldsOf(schema: unknown): string[] {
  return objectsIn(schema).flatMap(({ properties }) => Object.keys(properties ?? {}));
}

function valuesOf(schema: unknown): string[] {
  return objectsIn(schema).flatMap((one) => (Array.isArray(one.enum) ? one.enum.map(String) : []));
}

function objectsIn(value: unknown): Array<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) return [];
  const own = Array.isArray(value) ? [] : [value as Record<string, unknown>];
  return [...own, ...Object.values(value).flatMap(objectsIn)];
}
