// A time in the past as an operator types it: how long ago, or when. Used by options of commands that look back.
import type { Kind } from '../../config/kinds.ts';

/** Epoch milliseconds, relative to `nowMs`. */
export type PastTime = (nowMs: number) => number;

const MS: Record<string, number> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const ACCEPTS = '90s, 15m, 1h or 7d ago, or a time such as 2026-11-21T10:00:00Z';
const ABSOLUTE = /^\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2})?)?$/;

/** A time without an offset is in the local time zone. */
export function pastTime(): Kind<PastTime> {
  return {
    accepts: ACCEPTS,
    parse: (raw) => {
      const given = String(raw).trim();
      const [, count, unit = ''] = /^(\d{1,9})([smhd])$/.exec(given) ?? [];
      if (count !== undefined) {
        const agoMs = Number(count) * (MS[unit] ?? Number.NaN);
        return { ok: true, value: (nowMs) => Math.max(0, nowMs - agoMs) };
      }
      // A bare date would be read as UTC.
      const at = Date.parse(given.length === 10 ? `${given}T00:00` : given);
      return ABSOLUTE.test(given) && Number.isFinite(at)
        ? { ok: true, value: () => at }
        : { ok: false, problem: `${JSON.stringify(given)} is not a time: ${ACCEPTS}` };
    },
  };
}
