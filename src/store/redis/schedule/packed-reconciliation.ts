// The state of reconciliation as fields of a Redis hash, and back. Used by coordination.ts; pure.
import { NEVER_RECONCILED, type Reconciliation } from '../../ports/live/coordination.ts';

const FIELDS = {
  reason: 'reason',
  position: 'position',
  checked: 'checked',
  healed: 'healed',
  startedAtMs: 'started_ms',
  sweptAtMs: 'swept_ms',
  healedMissing: 'healed_missing',
  healedForeign: 'healed_foreign',
  healedDouble: 'healed_double',
  liveIdentity: 'live_identity',
  recordIdentity: 'record_identity',
  requestedMs: 'requested_ms',
  answeredRequestMs: 'answered_request_ms',
} as const satisfies Record<keyof Reconciliation, string>;

const NAMES = Object.keys(FIELDS) as Array<keyof Reconciliation>;

export function packReconciliation(state: Reconciliation): Record<string, string> {
  return Object.fromEntries(NAMES.map((name) => [FIELDS[name], String(state[name] ?? '')]));
}

export function unpackReconciliation(fields: ReadonlyMap<string, string>): Reconciliation {
  const read = (name: keyof Reconciliation) => {
    const text = fields.get(FIELDS[name]);
    const initial = NEVER_RECONCILED[name];
    if (text === undefined) return initial;
    return typeof initial === 'string' ? text : text === '' ? null : Number(text);
  };
  return Object.fromEntries(NAMES.map((name) => [name, read(name)])) as unknown as Reconciliation;
}
