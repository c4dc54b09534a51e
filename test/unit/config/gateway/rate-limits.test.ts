import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { loadDaemonConfig } from '../../../../src/config/load-config.ts';
import { messageOf } from '../../../../src/platform/errors.ts';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';

const path = join(temporaryDirectory('rate-limits'), 'cardpoll.yaml');

const STORES = { CARDPOLL_REDIS_URL: 'redis://r', CARDPOLL_DATABASE_URL: 'postgres://d/b' };
const EMBEDDED = { CARDPOLL_REDIS_URL: '', CARDPOLL_DATABASE_URL: '' };

async function limitsOf(gateway: string, env: Record<string, string> = {}) {
  writeFileSync(path, `gateway:\n  url: http://gateway\n${gateway}`);
  const inputs = { flags: { '--config': path }, env: { HOME: '/home/sre', ...STORES, ...env } };
  return (await loadDaemonConfig(inputs)).gateway.rateLimits;
}
const problem = (gateway: string, env?: Record<string, string>) =>
  limitsOf(gateway, env).then(() => 'none', messageOf);
const list = (...limits: string[]) => `  rate_limits:\n${limits.map((limit) => `    - ${limit}\n`).join('')}`;

it('no limit by default, nor with an empty list', async () => {
  expect(await limitsOf('')).toEqual([]);
  expect(await limitsOf('  rate_limits: []\n')).toEqual([]);
});

it('reads limits of calls and of cards', async () => {
  const limits = await limitsOf(
    list(
      '{ per_second: 200, burst: 50 }',
      '{ interfaces: [stop, flow], per_minute: 6000 }',
      '{ per_hour: 1 }',
      '{ per_card: true, interfaces: [flow], every_seconds: 15m }',
    ),
  );
  expect(limits).toEqual([
    { kind: 'calls', interfaces: null, calls: 200, unit: 'second', burst: 50 },
    { kind: 'calls', interfaces: ['flow', 'stop'], calls: 6_000, unit: 'minute', burst: 40 },
    { kind: 'calls', interfaces: null, calls: 1, unit: 'hour', burst: 1 },
    { kind: 'card', interfaces: ['flow'], everySeconds: 900 },
  ]);
});

it('the short form is a limit per second for all calls', async () => {
  const limit = { kind: 'calls', interfaces: null, calls: 50, unit: 'second', burst: 20 };
  expect(await limitsOf('  rate_limit_per_second: 50\n')).toEqual([limit]);
  expect(await limitsOf('', { CARDPOLL_GATEWAY_RATE_LIMIT_PER_SECOND: '50' })).toEqual([limit]);
});

it('the stricter one of the short form and the list is in force', async () => {
  const listed = list('{ per_second: 80, burst: 30 }', '{ interfaces: [flow], per_second: 20 }');
  const perSecond = async (short: string) => {
    const limits = await limitsOf(listed, { CARDPOLL_GATEWAY_RATE_LIMIT_PER_SECOND: short });
    return limits.map((limit) => limit.kind === 'calls' && [limit.calls, limit.burst]);
  };
  expect(await perSecond('50')).toEqual([
    [50, 20],
    [20, 8],
  ]);
  expect(await perSecond('100')).toEqual([
    [80, 30],
    [20, 8],
  ]);
});

it.each([
  ['{ per_second: 0 }', 'limit 1: per_second: 0 is out of bounds (1 to 100000)'],
  ['{ per_second: -1 }', 'limit 1: per_second: -1 is out of bounds'],
  ['{ per_second: 1e9 }', 'limit 1: per_second: 1000000000 is out of bounds'],
  ['{ per_second: 0.5 }', 'limit 1: per_second: 0.5 is not a whole number'],
  ['{ per_second: .nan }', 'is not a whole number'],
  ['{ per_second: }', 'limit 1: per_second is missing'],
  ['{ per_secnd: 5 }', 'unknown key per_secnd (did you mean per_second?); limit 1: give one of per_second'],
  ['{ per_second: 5, per_hour: 100 }', 'limit 1: give one of per_second, per_minute and per_hour'],
  ['{ burst: 5 }', 'limit 1: give one of per_second'],
  ['{ per_second: 50, burst: 51 }', 'limit 1: burst 51 is more than the 50 of per_second: 50 at most'],
  ['{ per_second: 50, burst: 0 }', 'limit 1: burst: 0 is out of bounds'],
  ['{ per_second: 50, interfaces: [flwo] }', 'limit 1: unknown interface flwo (did you mean flow?)'],
  ['{ per_second: 50, interfaces: [] }', 'limit 1: interfaces is not a list of names'],
  ['{ per_second: 50, interfaces: flow }', 'limit 1: interfaces is not a list of names'],
  ['{ per_card: true }', 'limit 1: every_seconds is missing'],
  ['{ every_seconds: 5 }', 'limit 1: every_seconds needs per_card: true'],
  ['{ per_card: true, every_seconds: 0 }', 'limit 1: every_seconds: 0 seconds is out of bounds'],
  ['{ per_card: true, every_seconds: 9, burst: 2 }', 'limit 1: burst does not go with per_card'],
  ['{ per_card: true, every_seconds: 9, interfaces: [stop] }', 'limit 1: no poll begins with stop'],
  ['50', 'limit 1: 50 is not keys and values'],
])('refuses %s', async (limit, said) => {
  const told = await problem(list(limit));
  expect(told).toContain(`${path}:3 gateway.rate_limits: `);
  expect(told).toContain(said);
});

it('reports all problems at once', async () => {
  const told = await problem(
    list('{ per_second: 0 }', '{ per_hour: 5, brust: 1 }', '{ per_minute: 7 }', '{ per_minute: 8 }'),
  );
  expect(told).toContain('limit 1: per_second');
  expect(told).toContain('limit 2: unknown key brust (did you mean burst?)');
  expect(told).toContain('two limits for all calls per minute: keep one');
});

it.each([
  ['per second', list('{ per_second: 5 }')],
  ['per hour, for one interface', list('{ per_hour: 5, interfaces: [stop] }')],
  ['in the short form', '  rate_limit_per_second: 5\n'],
  ['of a profile', '  profile: cisco-control-center\n'],
])('refuses a limit of calls %s with the embedded stores', async (_, gateway) => {
  expect(await problem(gateway, EMBEDDED)).toContain('rate limits need Redis: give --redis-url');
});

it('limits how often a card is polled with the embedded stores, too', async () => {
  const limits = list('{ per_card: true, interfaces: [flow], every_seconds: 15m }');
  expect(await limitsOf(limits, EMBEDDED)).toEqual([
    { kind: 'card', interfaces: ['flow'], everySeconds: 900 },
  ]);
});

it('refuses what is no list, and a list without end', async () => {
  expect(await problem('  rate_limits: { per_second: 5 }\n')).toContain('is not a list of limits');
  expect(await problem(list(...Array(17).fill('{ per_second: 5 }')))).toContain('more than 16 limits');
  expect(await problem('  rate_limit_per_second: 0\n')).toContain('0 is out of bounds (1 to 100000)');
});
