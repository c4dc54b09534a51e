// Values of the placeholders that do not depend on a card: the time, unique numbers, and the operator's names at the gateway.
// Each request gets new ones, the same in all its parts.

import { randomInt, randomUUID } from 'node:crypto';
import type { MonthCalendar } from '../../domain/cards/month-calendar.ts';
import type { GatewayCredentials } from '../../domain/gateway/gateway-config.ts';
import {
  type CommonPlaceholder,
  LOGIN_PLACEHOLDERS,
  namesInBraces,
} from '../../domain/gateway/profile-syntax.ts';

type Credentials = Pick<GatewayCredentials, 'token' | 'username' | 'password' | 'clientId' | 'clientSecret'>;

const NOTHING: Readonly<Partial<Record<CommonPlaceholder, string>>> = {};

/** @param template any part of a profile; only placeholders that it names are computed. */
export function commonValues(
  template: unknown,
  { token, username, password, clientId, clientSecret }: Credentials,
  calendar: MonthCalendar,
): (nowMs: number) => Readonly<Partial<Record<CommonPlaceholder, string>>> {
  const timestampOf = timestamps(calendar.timeZone);
  const makers: Readonly<Record<CommonPlaceholder, (nowMs: number) => string>> = {
    month: (now) => calendar.monthOf(now),
    date: (now) => calendar.dateOf(now),
    yyyymm: (now) => calendar.monthOf(now).replace('-', ''),
    yyyymmdd: (now) => calendar.dateOf(now).replaceAll('-', ''),
    timestamp: timestampOf,
    epoch: (now) => String(Math.floor(now / 1_000)),
    epoch_ms: (now) => String(Math.floor(now)),
    sequence: nextSequence,
    uuid: () => randomUUID(),
    username: () => username ?? '',
    password: () => password ?? '',
    client_id: () => clientId ?? '',
    client_secret: () => clientSecret ?? '',
    token: () => token ?? '',
  };
  const named = namesInBraces(JSON.stringify(template));
  const used = LOGIN_PLACEHOLDERS.filter((name) => named.includes(name));
  if (used.length === 0) return () => NOTHING;
  return (nowMs) => Object.fromEntries(used.map((name) => [name, makers[name](nowMs)]));
}

const SEQUENCES = 100_000_000;
/** Per process, with a random start, so that two processes rarely use the same number at the same time. */
let sequence = randomInt(SEQUENCES);

function nextSequence(): string {
  sequence = (sequence + 1) % SEQUENCES;
  return String(sequence).padStart(8, '0');
}

/** @returns a function that formats the time as YYYYMMDDHHMMSS. */
function timestamps(timeZone: string): (nowMs: number) => string {
  const format = new Intl.DateTimeFormat('en-CA', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
  });
  let second = Number.NaN;
  let text = '';
  return (nowMs) => {
    const now = Math.floor(nowMs / 1_000);
    // Formatting takes longer than the rest of a call, so it happens once a second.
    if (now !== second) {
      second = now;
      text = format.format(nowMs).replace(/\D/g, '');
    }
    return text;
  };
}
