import { describe, expect, it } from 'vitest';
import {
  ADDRESS_RANGE,
  BASE_URL,
  BadValue,
  connectionUrl,
  duration,
  fraction,
  HOST_PORT,
  integer,
  type Kind,
  listOf,
  ON_OFF,
  oneOf,
  TIME_ZONE,
  text,
  url,
} from '../../../src/config/kinds.ts';
import { ALL_SETTINGS, SETTINGS } from '../../../src/config/settings/settings.ts';

const value = (kind: Kind<unknown>, raw: unknown) => {
  try {
    return kind.parse(raw);
  } catch (error) {
    return error instanceof BadValue ? `refused: ${error.message}` : error;
  }
};
const refused = expect.stringMatching(/^refused: /);
const http = url('http', 'https');
const redis = connectionUrl('redis', 'redis-cluster');
const ms = duration('ms', { min: 10, max: 7_200_000 });

describe('kinds', () => {
  it.each<[string, Kind<unknown>, unknown, unknown]>([
    ['host and port', HOST_PORT, 'db.example:5432', { host: 'db.example', port: 5432 }],
    ['an IPv6 address', HOST_PORT, '[::1]:80', { host: '::1', port: 80 }],
    ['a port too high', HOST_PORT, '127.0.0.1:65536', refused],
    ['no port', HOST_PORT, '127.0.0.1', refused],
    ['no host', HOST_PORT, ':80', refused],
    ['a bare IPv6 address', HOST_PORT, '::1:80', refused],
    ['a URL', http, 'https://host/base/', 'https://host/base'],
    ['a URL with blanks around it', http, ' https://host/ ', 'https://host'],
    ['a base URL with an empty query', BASE_URL, 'http://host/?', refused],
    ['a base URL with an empty fragment', BASE_URL, 'http://host#', refused],
    ['another scheme', http, 'ftp://host', refused],
    ['a URL without slashes', http, 'http:host', refused],
    ['no URL', http, 'host:80', refused],
    ['on', ON_OFF, 'on', true],
    ['off in YAML', ON_OFF, false, false],
    ['maybe', ON_OFF, 'maybe', refused],
    ['a Redis URL', redis, 'redis://:secret@host:6379/1', 'redis://:secret@host:6379/1'],
    ['several hosts', redis, 'redis-cluster://a:1,b:2', 'redis-cluster://a:1,b:2'],
    ['no host', redis, 'redis:///1', refused],
    ['no scheme', redis, 'host:6379', refused],
    ['the lower bound', integer({ min: 1, max: 9 }), '1', 1],
    ['the upper bound', integer({ min: 1, max: 9 }), 9, 9],
    ['below the bounds', integer({ min: 1, max: 9 }), 0, refused],
    ['above the bounds', integer({ min: 1, max: 9 }), '10', refused],
    ['a broken number', integer({ min: 1, max: 9 }), 1.5, refused],
    ['a number with a tail', integer({ min: 1, max: 9 }), '5x', refused],
    ['true for a number', integer({ min: 0, max: 9 }), true, refused],
    ['a fraction', fraction({ min: 0, max: 1 }), '0.25', 0.25],
    ['a fraction above its bound', fraction({ min: 0, max: 1 }), '1.1', refused],
    ['a fraction in words', fraction({ min: 0, max: 1 }), 'half', refused],
    ['plain milliseconds', ms, 1500, 1_500],
    ['seconds as milliseconds', ms, '15s', 15_000],
    ['minutes as milliseconds', ms, '5m', 300_000],
    ['hours as milliseconds', ms, '2h', 7_200_000],
    ['minutes as seconds', duration('s', { min: 1, max: 900 }), '15m', 900],
    ['half a second as seconds', duration('s', { min: 0, max: 900 }), '500ms', refused],
    ['a duration out of bounds', ms, '3h', refused],
    ['a negative duration', ms, '-5', refused],
    ['a duration with an unknown unit', ms, '5d', refused],
    ['a word', oneOf(['a', 'b']), 'b', 'b'],
    ['another word', oneOf(['a', 'b']), 'c', refused],
    ['a list as text', listOf(oneOf(['a', 'b'])), ' b, a ,b', ['b', 'a']],
    ['a list as YAML', listOf(oneOf(['a', 'b'])), ['a'], ['a']],
    ['an empty list', listOf(oneOf(['a', 'b'])), [], refused],
    ['a list with a wrong word', listOf(oneOf(['a', 'b'])), 'a,,b', refused],
    ['a time zone', TIME_ZONE, 'Europe/Berlin', 'Europe/Berlin'],
    ['no time zone', TIME_ZONE, 'Europe/Atlantis', refused],
    ['text', text('text'), ' /var/lib ', '/var/lib'],
    ['blank text', text('text'), ' ', refused],
    ['a map for text', text('text'), {}, refused],
    ['a list for a number', integer({ min: 1, max: 9 }), [5], refused],
    ['a list for a duration', ms, [500], refused],
    ['a list for a time zone', TIME_ZONE, ['UTC'], refused],
    ['a list in a list', listOf(ADDRESS_RANGE), [['10.0.0.0/8']], refused],
    ['a map for a list', listOf(text('text')), { a: 1 }, refused],
    ['a list for a cron expression', SETTINGS.cleanup.schedule.kind, ['0 3 * * *'], refused],
    ['a list for a limit of stops', SETTINGS.stops.maxPerHour.kind, [500], refused],
  ])('reads %s', (_, kind, raw, expected) => {
    expect(value(kind, raw)).toEqual(expected);
  });
});

describe('settings table', () => {
  const bounded = ALL_SETTINGS.flatMap((setting) => {
    const match = /(-?\d+) to (\d+)$/.exec(setting.kind.accepts);
    return match === null ? [] : [{ setting, min: Number(match[1]), max: Number(match[2]) }];
  });

  it.each(bounded.map((row) => [row.setting.yaml ?? '', row] as const))(
    'keeps %s within its bounds',
    (_, { setting, min, max }) => {
      expect(value(setting.kind, min)).toBe(min);
      expect(value(setting.kind, String(max))).toBe(max);
      expect(value(setting.kind, min - 1)).toEqual(refused);
      expect(value(setting.kind, max + 1)).toEqual(refused);
    },
  );

  it('accepts its own defaults', () => {
    const isNothing = (value: unknown) => value === null || (Array.isArray(value) && value.length === 0);
    const withDefault = ALL_SETTINGS.filter((setting) => !isNothing(setting.default));
    expect(withDefault.length).toBeGreaterThan(10);
    for (const setting of withDefault) {
      expect(value(setting.kind, setting.defaultText), setting.yaml ?? '').toEqual(setting.default);
    }
  });

  it('names nothing twice', () => {
    for (const names of [
      ALL_SETTINGS.flatMap(({ flag, file }) => [flag, file?.flag ?? null]),
      ALL_SETTINGS.flatMap(({ env, file }) => [env, file?.env ?? null]),
      ALL_SETTINGS.map(({ yaml }) => yaml),
    ]) {
      const given = names.filter((name) => name !== null);
      expect(new Set(given).size).toBe(given.length);
    }
  });
});

describe('addressRange', () => {
  it.each([
    ['10.0.0.0/8', { address: '10.0.0.0', prefix: 8 }],
    ['127.0.0.1', { address: '127.0.0.1', prefix: 32 }],
    ['fd00::/8', { address: 'fd00::', prefix: 8 }],
    ['::1', { address: '::1', prefix: 128 }],
  ])('takes %s', (raw, value) => {
    expect(ADDRESS_RANGE.parse(raw)).toEqual(value);
  });

  it.each([
    '',
    'localhost',
    '10.0.0.0/33',
    '10.0.0/8',
    '::1/129',
    '10.0.0.0/8/8',
    '10.0.0.0/-1',
    '10.0.0.0/',
    7,
  ])('refuses %j', (raw) => {
    expect(value(ADDRESS_RANGE, raw)).toEqual(refused);
  });
});
