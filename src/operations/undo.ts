// Takes back a change of the audit trail by the former values that its entry holds. Used by the admin API. What each kind of
// change is taken back by is in undo-kinds.ts; the operation that made the change also takes it back, so it is checked,
// recorded and put in force as any other.
import { isDeepStrictEqual } from 'node:util';
import type { Actor } from '../domain/audit.ts';
import { CardpollError } from '../platform/errors.ts';
import type { AuditRecord } from '../store/ports/records/audit-records.ts';
import { auditItemOf, FAILED } from './audit.ts';
import type { UndoReport } from './audit-report.ts';
import type { OperationMeans } from './means.ts';
import { VERSION_CHANGED } from './requirements.ts';
import { cannot, type Undoing, type UndoMeans, undoingOf } from './undo-kinds.ts';

export class UndoOperations {
  constructor(private readonly deps: UndoMeans & Pick<OperationMeans, 'records'>) {}

  /**
   * Safe to repeat: an undo that was made is not made again.
   * @param dryRun checks everything and changes nothing.
   * @throws CardpollError `not_found`; `auth` for a caller who may not make the change; `conflict` for a change that cannot be
   * taken back, or that is not the last one of its object.
   */
  async undo(actor: Actor, id: number, dryRun: boolean): Promise<UndoReport> {
    const entry = await this.deps.records.audit.find(id);
    if (entry === null) {
      throw new CardpollError(
        'not_found',
        'change_not_found',
        `there is no change ${id} in the audit trail`,
        {
          hint: '`cardpoll audit` shows the ids',
        },
      );
    }
    const undoing = undoingOf(this.deps, entry);
    if (undoing.adminOnly && actor.role !== 'admin') {
      throw new CardpollError('auth', 'admin_only', 'undoing this needs a token with the role admin', {
        hint: 'only admins may change polling configs and retention, or delete rules',
      });
    }
    const made = await this.#madeUndo(entry, undoing);
    if (made !== null) return reportOf(entry, 'already_undone', made.id);
    if (isDeepStrictEqual(entry.before, entry.after)) {
      throw cannot(`change ${id} changed nothing: its values before and after are the same`);
    }
    if (dryRun) return reportOf(entry, 'planned', null);
    try {
      await undoing.apply({ ...actor, undoes: id });
    } catch (error) {
      if (!(error instanceof CardpollError) || error.code !== VERSION_CHANGED) throw error;
      throw cannot(`${entry.object} is not as change ${id} left it: it was changed without the audit trail`);
    }
    return reportOf(entry, 'undone', (await this.#madeUndo(entry, undoing))?.id ?? null);
  }

  /** @returns the entry that undid it; null: none. @throws CardpollError `conflict` that names a newer change. */
  async #madeUndo(entry: AuditRecord, undoing: Undoing): Promise<AuditRecord | null> {
    const later = await this.#later(entry, undoing);
    const made = later.findLast(({ after }) => undoneBy(after) === entry.id) ?? null;
    // What was deleted and is there again has another number.
    const newer = made === null ? later : await this.#later(made, undoingOf(this.deps, made));
    const newest = newer.at(-1);
    if (newest === undefined) return made;
    const { id, action, object, name, atMs } = newest;
    const already = made === null ? '' : `, after change ${made.id} had undone it`;
    throw new CardpollError(
      'conflict',
      'changed_since',
      `change ${entry.id} is not the last one of ${entry.object}: change ${id} (${action} of ${object} by ${name}, ${new Date(atMs).toISOString()}) is newer${already}`,
      { hint: `undo that one first: cardpoll audit undo ${id}` },
    );
  }

  /** The later changes of the same object that changed something. */
  async #later(entry: AuditRecord, { actions, objects }: Undoing): Promise<AuditRecord[]> {
    const later = (await this.deps.records.audit.later(entry, objects)).filter(cameAbout);
    return later.filter(
      ({ action, before, after, role }) =>
        (actions.includes(action) && role !== 'daemon' && !isDeepStrictEqual(before, after)) ||
        undoneBy(after) === entry.id,
    );
  }
}

/** A change that failed is announced, and then said to have failed. */
function cameAbout(
  { action, object, requestId }: AuditRecord,
  at: number,
  later: readonly AuditRecord[],
): boolean {
  const next = later.slice(at + 1).find((one) => one.object === object && one.requestId === requestId);
  return !action.endsWith(FAILED) && next?.action !== action + FAILED;
}

function undoneBy(after: unknown): unknown {
  return (after as { readonly undoes?: unknown } | null)?.undoes;
}

function reportOf(entry: AuditRecord, state: UndoReport['state'], auditId: number | null): UndoReport {
  const { id: undoes, at, actor, action, object, before, after } = auditItemOf(entry);
  return { undoes, state, auditId, at, actor, action, object, before, after };
}
