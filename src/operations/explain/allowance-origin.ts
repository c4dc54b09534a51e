// Who made the allowance of a card what it is: the import in the audit trail that was under way when it changed. Used by explainer.ts.
// Only imports change allowances; without one in the trail (a restored database, a change by hand, an entry that was cleaned up) it is
// not known.
import type { CardExplanation } from '../../resources/explanation.ts';
import type { AuditRecord } from '../../store/ports/records/audit-records.ts';
import type { RecordStore } from '../../store/ports/records/record-store.ts';

const BEGIN = 'cards.import.begin';
const ENDS = ['cards.import.end', 'cards.import.failed'];

/** Longer imports are not found. */
const LONGEST_MS = 24 * 3_600_000;
/** Entries have the time of their instance, a change that of the database. */
const CLOCKS_DIFFER_MS = 5_000;
const MOST_READ = 100;

export async function allowanceOriginOf(
  { cards, audit }: Pick<RecordStore, 'cards' | 'audit'>,
  cardId: number,
): Promise<CardExplanation['allowance']> {
  const atMs = await cards.allowanceChangedAt(cardId);
  if (atMs === null) return null;
  const earliest = { fromMs: atMs - LONGEST_MS, toMs: atMs + CLOCKS_DIFFER_MS };
  const latest = { fromMs: atMs - CLOCKS_DIFFER_MS, toMs: atMs + LONGEST_MS };
  const [begun, ended] = await Promise.all([
    audit.changes(earliest, [BEGIN], MOST_READ),
    audit.changes({ ...earliest, toMs: latest.toMs }, ENDS, 2 * MOST_READ),
  ]);
  const underWay = importsUnderWay(begun, ended, latest.fromMs);
  const [first, ...others] = underWay;
  return {
    at: new Date(atMs),
    importedBy: [...new Set(underWay.map(({ name }) => name))],
    auditId: first === undefined || others.length > 0 ? null : first.id,
  };
}

/**
 * @param begun before the change, newest first.
 * @returns those that had not ended before it. One that has no end, because its instance died, counts where there is no other.
 */
export function importsUnderWay<Entry extends Pick<AuditRecord, 'id' | 'requestId' | 'atMs'>>(
  begun: readonly Entry[],
  ended: readonly Pick<Entry, 'requestId' | 'atMs'>[],
  fromMs: number,
): readonly Entry[] {
  const endOf = ({ requestId }: Entry) => ended.find((one) => one.requestId === requestId);
  const whole = begun.filter((entry) => (endOf(entry)?.atMs ?? 0) >= fromMs);
  return whole.length > 0 ? whole : begun.filter((entry) => endOf(entry) === undefined).slice(0, 1);
}
