// GET /api/admin/report: the events of a period, and what is open now, for the hand-over from one operator to the next.
import { z } from 'zod';
import type { ShiftOperations } from '../../operations/shift/shift.ts';
import { ENDPOINTS } from '../../resources/endpoints.ts';
import { shiftReport } from '../../resources/report.ts';
import type { ExpensiveReads } from '../guard/expensive-reads.ts';
import { answersOf, type Serve } from '../schemas/answers.ts';
import { instant } from '../schemas/fields.ts';

const querystring = z.object({
  since: instant.optional().describe('Default: eight hours before the end. At most 90 days before it'),
  until: instant.optional().describe('The end, excluded. Default, and at the latest: now'),
});

export function reportRoute(serve: Serve, shift: ShiftOperations, expensive: ExpensiveReads): void {
  serve(
    ENDPOINTS.shiftReport,
    answersOf('report')(
      'Outages, alerts, changes, stops and polls of a time, and what is open now',
      shiftReport,
      { querystring },
    ),
    ({ query: { since = null, until = null } }) =>
      expensive.count(`report ${since} ${until}`, () => shift.report({ sinceMs: since, untilMs: until })),
  );
}
