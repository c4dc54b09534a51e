// Held stops are looked at in steps, from the first to the last, and then again.
import { pino } from 'pino';
import { expect, it } from 'vitest';
import { UnwantedStops } from '../../../../src/engine/stops/unwanted-stops.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

it('looks at all held stops every ten seconds, and logs once how many it dropped', async () => {
  const lines: Array<Record<string, unknown>> = [];
  const asked: number[] = [];
  const answers = [
    { lastCardId: 40, dropped: 2 },
    { lastCardId: 90, dropped: 1 },
    { lastCardId: null, dropped: 0 },
    { lastCardId: null, dropped: 0 },
  ];
  let fence: number | null = null;
  const service = new UnwantedStops({
    stops: {
      dropUnwanted: async (after) => {
        asked.push(after);
        return answers.shift() as (typeof answers)[number];
      },
    },
    fence: () => fence,
    clock: new FakeClock(),
    log: pino({ base: null }, { write: (line: string) => void lines.push(JSON.parse(line)) }),
    onError: (error) => expect.unreachable(String(error)),
  });
  expect(await service.runOnce()).toBe(10_000);
  expect(asked, 'another instance leads').toEqual([]);
  fence = 1;
  expect([await service.runOnce(), await service.runOnce(), await service.runOnce()]).toEqual([
    100, 100, 10_000,
  ]);
  expect(lines).toMatchObject([{ level: 30, stops: 3 }]);
  await service.runOnce();
  expect(asked).toEqual([0, 40, 90, 0]);
  expect(lines).toHaveLength(1);
});
