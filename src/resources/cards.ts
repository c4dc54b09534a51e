// Cards: the reports of one in full, of a range of the list and of an import, and the requests for them. Made by
// operations/cards, served by api/routes/cards.ts and card-import.ts. Why a card is polled is in explanation.ts.
import { z } from 'zod';
import type { CardAttributes, CardState } from '../domain/cards/card.ts';
import type { CardFilter } from '../domain/cards/card-filter.ts';
import type { Wire } from '../platform/snake-keys.ts';
import { perTaskTypeOf, type ReportOf, report, taskType } from './schema.ts';

/** The compiler requires every field. */
type ListedFields = Record<keyof (CardAttributes & CardState), z.ZodType>;

export const cardReport = report('Card', {
  cardId: z.int(),
  iccid: z.string(),
  carrierId: z.int(),
  status: z.int(),
  realNameVerified: z.boolean(),
  stopped: z.boolean(),
  allowanceMb: z.number().nullable().describe('MB a calendar month; null: unlimited'),
  usedMbMonth: z.number().describe('MB used in usage_month'),
  usageMonth: z.string().describe('The present month (YYYY-MM) of the configured time zone'),
  vendorId: z.string().nullable().describe('By what the vendor knows the SIM; null: nothing is known'),
  lastPolledAt: perTaskTypeOf(z.date().nullable()).describe('null: never polled'),
  nextDueAt: perTaskTypeOf(z.date().nullable()).describe(
    'In the past while the card waits in the queue, or its schedule lags; null: its config is disabled or it is not loaded yet',
  ),
} satisfies ListedFields & Record<string, z.ZodType>);
export type CardReport = ReportOf<typeof cardReport>;
export type CardBody = Wire<CardReport>;

export const cardListReport = z.object({
  items: z.array(
    cardReport.omit({ usedMbMonth: true, usageMonth: true, lastPolledAt: true, nextDueAt: true }),
  ),
  nextAfterId: z.int().nullable().describe('The after_id of the next call; null: there are no further cards'),
});
export type CardListReport = ReportOf<typeof cardListReport>;
export type CardListBody = Wire<CardListReport>;

/** Every row received is inserted, updated, unchanged or rejected. */
export const importReport = report('CardImportReport', {
  received: z.int(),
  inserted: z.int(),
  updated: z.int(),
  unchanged: z.int(),
  rejected: z.int(),
  overPackage: z
    .int()
    .describe(
      'Running cards that a lowered allowance puts over their package in this month: they are stopped',
    ),
  stoppedWithin: z
    .int()
    .describe(
      'Cards that cardpoll stopped, and that fit the larger package which they get: they stay stopped until they are resumed',
    ),
  unselected: z
    .array(z.object({ taskType, carrierId: z.int(), cards: z.int() }))
    .describe(
      'Cards of the file that no enabled config of a task type selects: they are not polled. By carrier, the ten with most cards of each type',
    ),
  newIccids: z.int().describe('Cards that get an ICCID: new ones, and known ones that had another'),
  roundedIccids: z
    .int()
    .describe('Cards that get an ICCID that ends in four or more zeros: a spreadsheet may have rounded it'),
  twinIccids: z
    .int()
    .describe(
      'Rows whose ICCID is that of another card with or without its check digit. An import that writes looks only at the file',
    ),
  doubtful: z
    .array(z.object({ line: z.int(), message: z.string() }))
    .describe('The first 20 of the rows in rounded_iccids and twin_iccids, by line'),
  errors: z
    .array(z.object({ line: z.int(), message: z.string() }))
    .describe('The first 1,000 rejected rows, by line'),
  errorsTruncated: z.boolean().describe('There were more errors than these'),
  ignoredColumns: z.array(z.string()).describe('The first 100 unknown columns, in quotes'),
});
export type ImportReport = ReportOf<typeof importReport>;
export type ImportBody = Wire<ImportReport>;

export type CardQuery = Wire<CardFilter>;

export type ImportFormat = 'csv' | 'ndjson';

export interface ImportChoices {
  /** Checks and counts, and writes nothing. */
  readonly dryRun?: boolean | undefined;
  /** Ignores unknown columns; otherwise they are refused. */
  readonly ignoreColumns?: boolean;
  /** The verification of a row replaces what polls have found. */
  readonly overwriteVerified?: boolean | undefined;
  /** The import stops before it puts more cards than this over their package; default: no limit. */
  readonly acceptOverPackage?: number;
  /** The import stops before it writes doubtful ICCIDs; otherwise it only counts them. */
  readonly refuseDoubtful?: boolean;
}
export type ImportQuery = Wire<ImportChoices>;
