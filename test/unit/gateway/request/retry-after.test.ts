// Every form in which servers say when to call again, and quota headers where Retry-After is not there.
import { describe, expect, it } from 'vitest';
import { parseRetryAfter } from '../../../../src/gateway/request/retry-after.ts';

/** 2026-11-29T12:00:00Z. */
const NOW = Date.UTC(2026, 10, 29, 12);
const MAX_MS = 60_000;

function waitOf(headers: Parameters<typeof parseRetryAfter>[0], maxMs = MAX_MS): number | null {
  return parseRetryAfter(headers, NOW, maxMs);
}

describe('Retry-After', () => {
  it.each([
    ['20', 20_000],
    ['20.5', 20_500],
    ['0.25', 250],
    [' 7 ', 7_000],
    ['"20"', 20_000],
    ['20, 20', 20_000],
    ['20s', 20_000],
    ['20 s', 20_000],
    ['20 seconds', 20_000],
    ['1.5s', 1_500],
    ['500ms', 500],
    ['0h0m20s', 20_000],
    ['20秒', 20_000],
    ['PT20S', 20_000],
    ['PT0M20.5S', 20_500],
    ['00:00:20', 20_000],
    ['2026-11-29T12:00:20Z', 20_000],
    ['2026-11-29T12:00:20.500Z', 20_500],
    ['2026-11-29T20:00:20+08:00', 20_000],
    ['2026-11-29T20:00:20+0800', 20_000],
    ['2026-11-29 12:00:20', 20_000],
    ['Sun, 29 Nov 2026 12:00:20 GMT', 20_000],
    ['Sunday, 29-Nov-26 12:00:20 GMT', 20_000],
    [String(NOW / 1_000 + 20), 20_000],
    [String(NOW / 1_000 + 20.5), 20_500],
    [String(NOW + 20_000), 20_000],
    [`${NOW + 20_000}000`, 20_000],
  ])('%s', (value, expected) => {
    expect(waitOf({ 'retry-after': value })).toBe(expected);
  });

  it.each([
    '1m',
    '2 minutes',
    '3600',
    '1h30m',
    'PT1H',
    '1d',
    '999999999',
    '99999999999999999999',
    '01:00:00',
  ])('%s is no longer than the longest pause', (value) => {
    expect(waitOf({ 'retry-after': value })).toBe(MAX_MS);
  });

  it.each([
    ['nothing', undefined],
    ['empty', ''],
    ['zero', '0'],
    ['a negative number', '-1'],
    ['a time that is over', '2026-11-29T11:59:00Z'],
    ['an epoch that is over', String(NOW / 1_000 - 5)],
    ['words', 'soon'],
    ['a unit that is none', '20 parsecs'],
    ['a day that does not exist', '2026-13-40T00:00:00Z'],
    ['a number that is none', '9'.repeat(30)],
    ['a long text', `${' '.repeat(50)}${'1s '.repeat(500)}`],
    ['letters behind a time', '00:00:20x'],
  ])('asks for nothing: %s', (_, value) => {
    expect(waitOf({ 'retry-after': value })).toBeNull();
  });

  it('means times by the clock of the gateway', () => {
    const date = 'Thu, 01 Jan 1970 00:00:30 GMT';
    expect(waitOf({ 'retry-after': '1970-01-01T00:00:50Z', date })).toBe(20_000);
    const ahead = 'Sun, 29 Nov 2026 12:10:00 GMT';
    expect(waitOf({ 'retry-after': String(NOW / 1_000 + 620), date: ahead })).toBe(20_000);
  });

  it('counts the first header of two, and milliseconds where a header is of milliseconds', () => {
    expect(waitOf({ 'retry-after': ['7', '9'] as unknown as string })).toBe(7_000);
    expect(waitOf({ 'retry-after-ms': '1500' })).toBe(1_500);
  });
});

describe('an API of a vendor', () => {
  it.each([
    ['MailerLite', { 'x-ratelimit-retry-after': '20', 'x-ratelimit-reset': '2026-11-29 12:00:50' }],
    ['OpenSky, and Bucket4j', { 'x-rate-limit-remaining': '0', 'x-rate-limit-retry-after-seconds': '20' }],
    [
      'lemlist',
      {
        'x-ratelimit-remaining': '0',
        'x-ratelimit-reset': 'Sun Nov 29 2026 13:00:20 GMT+0100 (Central European Standard Time)',
      },
    ],
    ['GitLab', { 'ratelimit-observed': '67', 'ratelimit-reset': String(NOW / 1_000 + 20) }],
    [
      'Auth0, of its token server',
      { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': `${NOW / 1_000 + 20}` },
    ],
  ])('says in its own header how long to wait: %s', (_, headers) => {
    expect(waitOf(headers)).toBe(20_000);
  });
});

describe('a quota', () => {
  it.each([
    ['ratelimit-reset', '20', 20_000],
    ['x-ratelimit-reset', '20', 20_000],
    ['x-ratelimit-reset', String(NOW / 1_000 + 20), 20_000],
    ['x-ratelimit-reset', String(NOW + 20_000), 20_000],
    ['x-ratelimit-reset', '2026-11-29T12:00:20Z', 20_000],
    ['x-rate-limit-reset', String(NOW / 1_000 + 20), 20_000],
    ['x-ratelimit-reset-after', '1.25', 1_250],
    ['ratelimit', 'limit=10, remaining=0, reset=20', 20_000],
    ['ratelimit', '"burst";r=0;t=5, "minute";r=0;t=20, "day";r=9;t=3600', 20_000],
  ])('%s: %s', (name, value, expected) => {
    expect(waitOf({ [name]: value })).toBe(expected);
  });

  it('is what to wait for only if nothing is left of it, and Retry-After does not say otherwise', () => {
    const reset = { 'x-ratelimit-reset': '50' };
    expect(waitOf({ ...reset, 'x-ratelimit-remaining': '0' })).toBe(50_000);
    expect(waitOf({ ...reset, 'x-ratelimit-remaining': '12' })).toBeNull();
    expect(waitOf({ ratelimit: 'limit=10, remaining=3, reset=20' })).toBeNull();
    expect(waitOf({ ...reset, 'retry-after': '7' })).toBe(7_000);
    expect(waitOf({ ...reset, 'retry-after': '0' })).toBeNull();
    expect(waitOf({ ...reset, 'retry-after': 'soon' })).toBe(50_000);
    expect(waitOf(reset, 3_600_000)).toBe(50_000);
  });
});
