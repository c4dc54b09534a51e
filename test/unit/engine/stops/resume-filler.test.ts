// Steps of runs, only on the leader, and one of each run in turn.
import { beforeEach, expect, it } from 'vitest';
import { ResumeFiller } from '../../../../src/engine/stops/resume-filler.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

/** Steps left of each run. */
let left: Map<string, number>;
let steps: string[];
let fence: number | null;
let filler: ResumeFiller;

beforeEach(() => {
  left = new Map([
    ['large', 3],
    ['small', 1],
  ]);
  [steps, fence] = [[], 1];
  filler = new ResumeFiller({
    resumes: {
      withStepsLeft: async () => [...left].filter(([, n]) => n > 0).map(([id]) => id),
      advance: async (id) => {
        steps.push(id);
        const n = (left.get(id) ?? 0) - 1;
        left.set(id, n);
        return n > 0;
      },
    },
    fence: () => fence,
    clock: new FakeClock(),
    onError: (error) => expect.unreachable(String(error)),
  });
});

it('makes one step of each run at a time, and rests when none is left', async () => {
  expect(await filler.runOnce()).toBe(0);
  expect(steps).toEqual(['large', 'small']);
  expect(await filler.runOnce()).toBe(0);
  expect(await filler.runOnce()).toBe(1_000);
  expect(steps).toEqual(['large', 'small', 'large', 'large']);
});

it('does nothing while another instance leads', async () => {
  fence = null;
  expect(await filler.runOnce()).toBe(1_000);
  expect(steps).toEqual([]);
});
