// Undoes a change in the audit trail by the former values of its entry. Used by the admin API. undo-kinds.ts has the undo of each
// kind of change; the operation that made the change also undoes it, so the undo is checked, recorded and put in force like any
// other change.
import { isDeepStrictEqual } from 'node:util';
import type { Actor } from '../domain/audit.ts';
import { changesSince } from '../health/change-since.ts';
import { CardpollError } from '../platform/errors.ts';
import type { UndoReport } from '../resources/audit.ts';
import type { AuditRecord } from '../store/ports/records/audit-records.ts';
import { auditItemOf } from './audit.ts';
import type { OperationDeps } from './deps.ts';
import { VERSION_CHANGED } from './requirements.ts';
import { cannot, type UndoDeps, undoingOf } from './undo-kinds.ts';

export class UndoOperations {
  constructor(private readonly deps: UndoDeps & Pick<OperationDeps, 'records'>) {}

  /**
   * Safe to repeat: an undo is made only once.
   * @param dryRun checks everything and changes nothing.
   * @throws CardpollError `not_found`; `auth` for a caller who may not make the change; `conflict` for a change that cannot be
   * undone, or that is not the last one of its object, unless its remaining part can be undone.
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
    const made = await this.#madeUndo(entry, undoing.takesWhatIsLeft);
    if (made !== null && !(await undoing.isPartLeft?.())) return reportOf(entry, 'already_undone', made.id);
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
    return reportOf(entry, 'undone', (await this.#madeUndo(entry, undoing.takesWhatIsLeft))?.id ?? null);
  }

  /** @returns the entry that undid it; null: none. @throws CardpollError `conflict` that names a newer change. */
  async #madeUndo(entry: AuditRecord, ignoresNewer = false): Promise<AuditRecord | null> {
    const { undo: made, newest } = await changesSince(this.deps.records.audit, entry);
    if (newest === null || ignoresNewer) return made;
    const { id, action, object, name, atMs } = newest;
    const already = made === null ? '' : `, after change ${made.id} had undone it`;
    throw new CardpollError(
      'conflict',
      'changed_since',
      `change ${entry.id} is not the last one of ${entry.object}: change ${id} (${action} of ${object} by ${name}, ${new Date(atMs).toISOString()}) is newer${already}`,
      { hint: `undo that one first: cardpoll audit undo ${id}` },
    );
  }
}

function reportOf(entry: AuditRecord, state: UndoReport['state'], auditId: number | null): UndoReport {
  const { id: undoes, at, actor, action, object, before, after } = auditItemOf(entry);
  return { undoes, state, auditId, at, actor, action, object, before, after };
}
