// Stops: the reports of stops, of their mode and of the runs that resume cards, and the requests for them. Made by
// operations/stops, served by api/routes/stops.ts. Their numbers in the overview are in health.ts.
import { z } from 'zod';
import { HOLD_ENDS, HOLD_REASONS, type STOP_FILTERS, STOP_MODES, STOP_STATES } from '../domain/stops/stop.ts';
import type { Wire } from '../platform/snake-keys.ts';
import { type Open, type ReportOf, report, type TimeQuery } from './schema.ts';

export const stopReport = report('Stop', {
  cardId: z.int(),
  iccid: z.string(),
  carrierId: z.int().nullable().describe('null: the card was removed'),
  month: z.string().describe('Month of the usage, YYYY-MM'),
  state: z.enum(STOP_STATES),
  usedMb: z.number(),
  allowanceMb: z.number().nullable().describe('null: unlimited; an operator stops the card'),
  heldBy: z.enum(HOLD_REASONS).nullable().describe('Why it is held; null unless it is'),
  heldFor: z
    .enum(HOLD_ENDS)
    .nullable()
    .describe(
      'What ends the hold: the end of the jump, the next reading that is over the allowance, or an operator; null unless held',
    ),
  heldUntil: z
    .date()
    .nullable()
    .describe(
      'When its cause is over: a reading after that decides. null: not known, or an operator decides',
    ),
  orderedBy: z
    .string()
    .nullable()
    .describe('Who released, dismissed or ordered it; null: cardpoll decided by itself'),
  reason: z.string().nullable(),
  requestedAt: z.date(),
  completedAt: z.date().nullable().describe('When the gateway showed the card stopped'),
  resumedAt: z.date().nullable(),
  stopAgain: z.boolean().describe('It is resumed, and may be stopped again in the month'),
  pendingSince: z
    .date()
    .nullable()
    .describe('Since when the vendor works on it, as it says; null: it does not'),
  pendingUntil: z
    .date()
    .nullable()
    .describe('No further call is made before, unless the gateway shows the stop; null: as above'),
  attempts: z.int(),
  unconfirmed: z.int().describe('Calls that were acknowledged without effect'),
  lastError: z.string().nullable(),
});
export type StopReport = ReportOf<typeof stopReport>;
export type StopBody = Wire<StopReport>;

export const stopModeReport = report('StopMode', {
  mode: z.enum(STOP_MODES).describe('In force'),
  source: z.enum(['setting', 'operator']),
  since: z.date().nullable().describe('When an operator set it; null: it is that of the settings'),
  by: z.string().nullable(),
  reason: z.string().nullable(),
  setting: z
    .enum(STOP_MODES)
    .describe('stops.mode of this instance; without effect once an operator set the mode'),
  jump: z
    .object({
      since: z.date(),
      carrierId: z.int().nullable().describe('null: the whole fleet'),
      isStep: z
        .boolean()
        .describe('Most cards that went over their package stepped alike: growth as before does not end it'),
      factor: z
        .number()
        .describe(
          'Median growth of the last minutes, as a multiple of the usual one; of a step, what cards show as a multiple of what they showed before',
        ),
      baselineMbPerHour: z
        .number()
        .describe('The usual growth: of the hour before, or more at this time of the last seven days'),
      recentMbPerHour: z.number(),
      acceptedAt: z
        .date()
        .nullable()
        .describe('When an operator accepted the readings; null: all stops are held'),
      sample: z
        .array(
          z.object({
            cardId: z.int(),
            carrierId: z.int(),
            beforeMb: z
              .number()
              .nullable()
              .describe('What the gateway showed before its last step; null: it has grown without one'),
            shownMb: z.number().describe('What it showed when the stop was judged'),
          }),
        )
        .describe('Up to ten of the cards that went over their package since shortly before it'),
    })
    .nullable()
    .describe('A jump of the readings of the whole fleet or of a carrier; null: there is none'),
});
export type StopModeReport = ReportOf<typeof stopModeReport>;
export type StopModeBody = Wire<StopModeReport>;

const STOPS = 'Stops; a card may have one of each month';
const notHeld = z.array(z.int()).describe('Given cards whose stop was not held');
export const releaseReport = z.object({ released: z.int().describe(STOPS), notHeld });
export type ReleaseReport = ReportOf<typeof releaseReport>;
export type ReleaseBody = Wire<ReleaseReport>;
const withoutStop = z.array(z.int()).describe('Given cards without a stop, or whose stop was called');
export const dismissReport = z.object({ dismissed: z.int().describe(STOPS), notHeld: withoutStop });
export type DismissReport = ReportOf<typeof dismissReport>;
export type DismissBody = Wire<DismissReport>;

export const orderedStopReport = z.object({ cardId: z.int(), state: z.literal('requested') });
export type OrderedStopReport = ReportOf<typeof orderedStopReport>;
export type OrderedStopBody = Wire<OrderedStopReport>;

export const resumePreview = z.object({
  total: z.int(),
  skipped: z.int().describe('Given cards that are unknown, or wait in another run'),
});
export type ResumePreview = ReportOf<typeof resumePreview>;
export type ResumePreviewBody = Wire<ResumePreview>;

export const resumeRunReport = report('ResumeRun', {
  id: z.string(),
  status: z
    .enum(['running', 'completed', 'cancelled'])
    .describe('completed: each of its cards was shown running, failed, or was taken out of it'),
  total: z
    .int()
    .describe('Its cards; while some are not handed out yet, as they were counted when it was made'),
  cutOff: z
    .int()
    .describe(
      'Its cards that the gateway has not shown running since: total without the resumed and running ones',
    ),
  waiting: z.int(),
  resumed: z.int(),
  alreadyRunning: z.int().describe('The gateway showed the card running before any call of the run'),
  failed: z.int(),
  cancelled: z.int(),
  skipped: z
    .int()
    .describe(
      'Cards that were expected: unknown, waiting in another run, or not stopped any more at their turn',
    ),
  notResumed: z
    .array(z.object({ cardId: z.int(), state: z.enum(['failed', 'cancelled']), error: z.string() }))
    .describe('The first cards that failed, or that an order to stop them took out of the run'),
  since: z.date().nullable().describe('What it was made from; null: from a list'),
  carrierId: z.int().nullable(),
  reason: z.string(),
  stopAgain: z.boolean().describe('Its cards may be stopped again in the month'),
  by: z.string(),
  createdAt: z.date(),
  cancelledAt: z.date().nullable(),
  finishedAt: z.date().nullable().describe('When its last card ended'),
  lastError: z
    .string()
    .nullable()
    .describe('The last error of one of its cards, which may have been resumed since; null: no card had one'),
  waitsFor: z
    .string()
    .nullable()
    .describe('Why none of its cards is resumed; null: nothing holds it back, or it has ended'),
});
export type ResumeRunReport = ReportOf<typeof resumeRunReport>;
export type ResumeRunBody = Wire<ResumeRunReport>;

export type StopQuery = TimeQuery & Open<{ state: (typeof STOP_FILTERS)[number]; carrier_id: number }>;

/** Held stops of a list of cards, or all. */
export type HeldSelection = { readonly card_ids: readonly number[] } | { readonly all: true };

/** A list of cards, or the cards that cardpoll stopped since a time, or those that are within their package by now. */
export type ResumeSelectionBody =
  | { readonly card_ids: readonly number[] }
  | { readonly since: string; readonly carrier_id?: number }
  | { readonly within: true; readonly carrier_id?: number };

export interface ResumeOrder {
  readonly reason: string;
  /** Whether the cards may be stopped again in the month. */
  readonly stopAgain: boolean;
}
export type ResumeOrderBody = Wire<ResumeOrder>;
