import { expect, it } from 'vitest';
import { OwnSideWatch } from '../../../../src/engine/stats/own-side-watch.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

const measured = (isEmbedded: boolean) => {
  const clock = new FakeClock();
  const load = { loopDelayMs: 3, cpuPercent: 40, machinePercent: 50 };
  const watch = new OwnSideWatch({
    ...{ load: () => ({ ...load }), clock },
    live: { kind: isEmbedded ? 'embedded' : 'redis' },
    records: { kind: isEmbedded ? 'embedded' : 'postgres' },
    ...{ heartbeat: { redisMs: 1 }, fleetClock: { databaseMs: 2 } },
  });
  return { clock, load, watch };
};

it('an instance reports its last shortage and its age', () => {
  const { clock, load, watch } = measured(false);
  expect(watch.read().lastShort).toBeNull();
  load.loopDelayMs = 80;
  const short = { ...load, redisMs: 1, databaseMs: 2 };
  expect(watch.read()).toEqual({ ...short, lastShort: { ...short, agoMs: 0 } });
  load.loopDelayMs = 3;
  clock.advance(12_000);
  expect(watch.read()).toMatchObject({ loopDelayMs: 3, lastShort: { ...short, agoMs: 12_000 } });
});

it('embedded stores have no latency of their own', () => {
  expect(measured(true).watch.read()).toMatchObject({ redisMs: null, databaseMs: null });
});
