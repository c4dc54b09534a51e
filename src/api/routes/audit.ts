// GET /api/admin/audit: who changed what. Only operations/audit.ts makes entries. GET /api/admin/whoami: the identity and role of
// the caller.
import { z } from 'zod';
import type { Audit } from '../../operations/audit.ts';
import type { UndoOperations } from '../../operations/undo.ts';
import { auditItem, undoReport } from '../../resources/audit.ts';
import { ENDPOINTS } from '../../resources/endpoints.ts';
import { answersOf, onPage, pageOf, pageQuery, type Serve } from '../schemas/answers.ts';
import { idOf, instant, queryYesOrNo } from '../schemas/fields.ts';

const answers = answersOf('audit');

const MAX_WORD_CHARS = 200;
const wordError = `must have 1 to ${MAX_WORD_CHARS} printable characters`;
const word = z
  .string({ error: wordError })
  .min(1, { error: wordError })
  .max(MAX_WORD_CHARS, { error: wordError })
  .regex(/^\P{Cc}*$/u, { error: wordError });

const MAX_ID_DIGITS = 15;

export function auditRoutes(serve: Serve, audit: Audit, undo: UndoOperations): void {
  serve(
    ENDPOINTS.audit,
    answers(
      'List changes, newest first; an action or object also selects all that begin with its words',
      pageOf(auditItem),
      {
        querystring: pageQuery.extend({
          since: instant.optional(),
          until: instant.optional(),
          actor: word.optional(),
          action: word.optional(),
          object: word.optional(),
        }),
      },
    ),
    async ({ query }) => {
      const { since = null, until = null, actor = null, action = null, object = null } = query;
      const filter = { sinceMs: since, untilMs: until, actor, action, object };
      return onPage(await audit.list(filter, query), query);
    },
  );
  serve(
    ENDPOINTS.undo,
    answers(
      'Take a change back by its former values; refused where something newer changed the same object',
      undoReport,
      {
        params: z.object({ id: idOf('a change', MAX_ID_DIGITS) }),
        querystring: z.object({ dry_run: queryYesOrNo.optional().describe('Check, and change nothing') }),
      },
    ),
    ({ actor, params, query }) => undo.undo(actor, params.id, query.dryRun === true),
  );
}

const caller = z.object({ name: z.string(), role: z.enum(['viewer', 'operator', 'admin']) });

export function whoamiRoute(serve: Serve): void {
  serve(
    ENDPOINTS.whoami,
    answersOf('access')('Name and role of the token', caller),
    async ({ actor: { name, role } }) => ({ name, role: role as z.output<typeof caller>['role'] }),
  );
}
