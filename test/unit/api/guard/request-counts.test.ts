// The limits of requests a minute, over a server whose wall clock steps.
import fastify from 'fastify';
import { expect, it, onTestFinished, vi } from 'vitest';
import { registerLimits } from '../../../../src/api/guard/access.ts';
import { RequestCounts } from '../../../../src/api/guard/request-counts.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

it('a limit is over after a minute, although the wall clock stepped back by an hour', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  onTestFinished(() => void vi.useRealTimers());
  const clock = new FakeClock();
  const app = fastify();
  const settings = { adminTokens: [], rateLimitPerMinute: 0 };
  const { refusals } = await registerLimits(app, { settings }, 2, { refused: () => {} }, clock);
  app.get('/', async (request, reply) => {
    await refusals(request, reply);
    return 'counted';
  });
  const ask = async () => {
    const { statusCode, headers } = await app.inject('/');
    return [statusCode, headers['retry-after']];
  };
  expect([await ask(), await ask()]).toEqual([
    [200, undefined],
    [200, undefined],
  ]);
  vi.setSystemTime(Date.now() - 3_600_000);
  clock.advance(20_000);
  expect(await ask(), 'seconds that are left of the minute').toEqual([500, '40']);
  clock.advance(40_000);
  expect(await ask()).toEqual([200, undefined]);
  await app.close();
});

it('counts of the longest silent address are the first that are forgotten', () => {
  const counts = new RequestCounts(new FakeClock());
  const seen = (key: string) => {
    let count = 0;
    counts.incr(key, (_, { current }) => {
      count = current;
    });
    return count;
  };
  seen('silent');
  seen('present');
  for (let other = 0; other < 9_998; other += 1) seen(String(other));
  expect(seen('present')).toBe(2);
  seen('one too many');
  expect([seen('present'), seen('silent')]).toEqual([3, 1]);
});
