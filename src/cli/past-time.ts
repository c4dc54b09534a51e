// A time in the past as operators type it. Used by options of commands that look back.
import { type Kind, refuse } from '../config/kinds.ts';
import { loadTimeZone } from '../config/load-config.ts';
import { type Edge, TYPED_TIMES, typedTime } from '../log-search/time/typed-time.ts';
import { Zone } from '../log-search/time/zone.ts';
import { CardpollError } from '../platform/errors.ts';
import type { CommandContext } from './command.ts';

/** @returns epoch milliseconds */
type PastTime = (nowMs: number, zone: Zone, edge: Edge) => number;

export const PAST_TIME: Kind<PastTime> = {
  accepts: TYPED_TIMES,
  parse: (raw) => {
    const given = String(raw).trim();
    if (typedTime(given, new Zone('UTC'), 0, 'since') === null)
      refuse(`${JSON.stringify(given)} is not a time: type ${TYPED_TIMES}`);
    return (nowMs, zone, edge) => typedTime(given, zone, nowMs, edge) ?? Number.NaN;
  },
};

/**
 * Times are typed in the configured zone, or in that of the process if none is configured.
 * @returns both ends (RFC 3339; undefined: open), and the range in words, in that zone; null: all times.
 * @throws CardpollError kind `usage` for a range that ends before it begins, which could contain nothing.
 */
export async function pastRange(
  { io, configInputs }: CommandContext,
  { since, until }: { readonly since?: PastTime | undefined; readonly until?: PastTime | undefined },
) {
  if (since === undefined && until === undefined) return { since: undefined, until: undefined, said: null };
  const zone = new Zone(await loadTimeZone(configInputs));
  const nowMs = io.clock.now();
  const from = since?.(nowMs, zone, 'since');
  const to = until?.(nowMs, zone, 'until');
  const words = [
    ...(from === undefined ? [] : [`since ${zone.format(from)}`]),
    ...(to === undefined ? [] : [`until ${zone.format(to)}`]),
  ];
  const said = `${words.join(' ')} (${zone.name})`;
  if (from !== undefined && to !== undefined && from >= to) {
    throw new CardpollError('usage', 'empty_range', `the range is empty: ${said}`, {
      hint: '--until is the first instant after the range and must be later than --since',
    });
  }
  return { since: instant(from), until: instant(to), said };
}

function instant(ms: number | undefined): string | undefined {
  return ms === undefined ? undefined : new Date(ms).toISOString();
}
