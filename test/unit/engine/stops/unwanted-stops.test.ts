// Held stops are looked at in steps, from the first to the last, and then again.
import { pino } from 'pino';
import { expect, it } from 'vitest';
import { UnwantedStops } from '../../../../src/engine/stops/unwanted-stops.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

it('looks at all held stops every ten seconds, and logs once how many it dropped', async () => {
  const clock = new FakeClock();
  const lines: Array<Record<string, unknown>> = [];
  const asked: number[] = [];
  const answers = [
    { lastCardId: 40, dropped: 2 },
    { lastCardId: 90, dropped: 1 },
    { lastCardId: null, dropped: 0 },
    { lastCardId: null, dropped: 0 },
  ];
  const unwanted = new UnwantedStops({
    stops: {
      dropUnwanted: async (after) => {
        asked.push(after);
        return answers.shift() as (typeof answers)[number];
      },
    },
    clock,
    log: pino({ base: null }, { write: (line: string) => void lines.push(JSON.parse(line)) }),
  });
  for (let call = 0; call < 5; call += 1) await unwanted.run();
  expect(asked).toEqual([0, 40, 90]);
  expect(lines).toMatchObject([{ level: 30, stops: 3 }]);
  clock.advance(9_999);
  await unwanted.run();
  expect(asked).toHaveLength(3);
  clock.advance(1);
  await unwanted.run();
  expect(asked).toEqual([0, 40, 90, 0]);
  expect(lines).toHaveLength(1);
});
