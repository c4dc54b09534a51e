// A time in the future as an operator types it, for what is planned. Used by `cardpoll maintenance plan`.
import { type Kind, refuse } from '../config/kinds.ts';
import { typedTime } from '../log-search/time/typed-time.ts';
import { Zone } from '../log-search/time/zone.ts';
import { CardpollError } from '../platform/errors.ts';

/**
 * @returns epoch milliseconds. Times without an offset are times of the zone; one that occurs twice there means the first.
 * @throws CardpollError kind `usage` for a time that the zone does not have, because clocks go forward.
 */
type FutureTime = (nowMs: number, zone: Zone) => number;

const ACCEPTED =
  "02:00 (the next one), 'tomorrow 02:00', '2026-12-01 02:00', 2026-12-01T02:00:00+08:00, +2h (in two hours) or now";
const DAY_MS = 86_400_000;
const UNIT_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: DAY_MS };
const AHEAD = /^\+(\d{1,6})([smhd])$/;
const CLOCK = /^(?:(today|tomorrow) )?([01]\d|2[0-3]):([0-5]\d)(?::([0-5]\d))?$/;
const LOCAL = /^(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d)(:\d\d)?$/;
const WITH_OFFSET = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d(:\d\d([.,]\d{1,9})?)?( ?[+-]\d\d(:?\d\d)?|[Zz])$/;

export const FUTURE_TIME: Kind<FutureTime> = {
  accepts: ACCEPTED,
  parse: (raw) => {
    const given = String(raw).trim();
    return readerOf(given) ?? refuse(`${JSON.stringify(given)} is not a time: type ${ACCEPTED}`);
  },
};

function readerOf(text: string): FutureTime | null {
  if (text === 'now') return (nowMs) => nowMs;
  const ahead = AHEAD.exec(text);
  if (ahead !== null) return (nowMs) => nowMs + Number(ahead[1]) * (UNIT_MS[ahead[2] ?? 's'] ?? 0);
  const clock = CLOCK.exec(text);
  if (clock !== null) return (nowMs, zone) => nextTimeOfDay(clock, nowMs, zone);
  const local = LOCAL.exec(text);
  if (local !== null) {
    const wallMs = Date.parse(`${local[1]}T${local[2]}${local[3] ?? ':00'}Z`);
    // 30 February is 2 March for Date.parse.
    const isDay = !Number.isNaN(wallMs) && new Date(wallMs).toISOString().startsWith(local[1] ?? '');
    return isDay ? (_, zone) => existing(wallMs, zone) : null;
  }
  const offset = WITH_OFFSET.test(text) ? typedTime(text, new Zone('UTC'), 0, 'since') : null;
  return offset === null ? null : () => offset;
}

function nextTimeOfDay([, day, hour, minute, second = '0']: RegExpExecArray, nowMs: number, zone: Zone) {
  const todayMs = Math.floor((nowMs + zone.offsetAt(nowMs)) / DAY_MS) * DAY_MS;
  const ofDayMs = ((Number(hour) * 60 + Number(minute)) * 60 + Number(second)) * 1_000;
  if (day !== undefined) return existing(todayMs + (day === 'today' ? 0 : DAY_MS) + ofDayMs, zone);
  const { ms, againMs } = zone.instantsOf(todayMs + ofDayMs);
  const next = [ms, againMs].find((one) => one !== null && one > nowMs);
  // Whether or not it occurs today: a time that today skips is still to come, or has been passed over.
  return existing(todayMs + (next === undefined ? DAY_MS : 0) + ofDayMs, zone, next ?? undefined);
}

/** @param ms one of the two instants, where the second one is meant. */
function existing(wallMs: number, zone: Zone, ms = zone.instantsOf(wallMs).ms): number {
  if (ms + zone.offsetAt(ms) === wallMs) return ms;
  const wall = new Date(wallMs).toISOString();
  const [date, time] = [wall.slice(0, 'yyyy-mm-dd'.length), wall.slice(11, 16)];
  const first = zone.format(zone.firstAt(wallMs));
  throw new CardpollError(
    'usage',
    'time_missing',
    `${time} does not exist on ${date} in ${zone.name}: clocks go forward`,
    { hint: `the first time after the change is ${first}` },
  );
}
