// Finds out whether a change in the audit trail was undone, or its object was changed again. Used by change-watch.ts, and by
// operations/undo.ts before it undoes a change.
import { isDeepStrictEqual } from 'node:util';
import { FAILED } from '../domain/audit.ts';
import { TASK_TYPES } from '../domain/task-type.ts';
import type { AuditRecord, AuditRecords } from '../store/ports/records/audit-records.ts';

type Change = Pick<AuditRecord, 'id' | 'atMs' | 'action' | 'object'>;
type Trail = Pick<AuditRecords, 'later'>;

/** Actions that supersede each other on the same object. */
const FAMILIES: ReadonlyArray<readonly string[]> = [
  ['config.create', 'config.update', 'config.delete'],
  ['alert_rule.create', 'alert_rule.update', 'alert_rule.delete'],
  ['pause.begin', 'pause.end'],
];

/** @returns the change that undid it, and the newest other one; each null: none. */
export async function changesSince(trail: Trail, change: Change) {
  const later = await laterChanges(trail, change);
  const undo = later.findLast(({ after }) => undoneBy(after) === change.id) ?? null;
  // A deleted object that was restored has another number.
  const newer = undo === null ? later : await laterChanges(trail, undo);
  return { undo, newest: newer.at(-1) ?? null };
}

/** The later effective changes of the same object. */
async function laterChanges(trail: Trail, change: Change): Promise<AuditRecord[]> {
  const family = FAMILIES.find((actions) => actions.includes(change.action)) ?? [change.action];
  const later = (await trail.later(change, objectsOf(change))).filter(cameAbout);
  return later.filter(
    ({ action, before, after, role }) =>
      (family.includes(action) && role !== 'daemon' && !isDeepStrictEqual(before, after)) ||
      undoneBy(after) === change.id,
  );
}

/** A change that failed is announced first, and reported as failed afterwards. */
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

/** A pause of all task types counts as one for each. */
function objectsOf({ action, object }: Change): string[] {
  const all = 'task_type all';
  if (!action.startsWith('pause.')) return [object];
  return object === all ? [all, ...TASK_TYPES.map((type) => `task_type ${type}`)] : [object, all];
}
