import { describe, expect, it } from 'vitest';
import {
  afterMerge,
  afterSplit,
  anchorAfter,
  beginningOf,
  bucketAt,
  bucketNumberOf,
  bucketOf,
  bucketsFrom,
  dueAt,
  MIN_BUCKETS,
  nextDueAt,
  nextResize,
  offPhaseMs,
  type RingClock,
  type RingShape,
  stepAtPhase,
  stepsOf,
} from '../../../../src/domain/schedule/phase.ts';

/** Redis keeps up to 512 integers as an intset by default. */
const LARGEST_BUCKET = 400;

/** The shape of a ring that grew to so many cards. */
function grown(cards: number, from: RingShape = { buckets: MIN_BUCKETS, split: 0 }): RingShape {
  let shape = from;
  while (nextResize(shape, cards) === 'split') shape = afterSplit(shape);
  return shape;
}

function sizes(cards: number, idOf: (n: number) => number, shape = grown(cards)): Map<number, number> {
  const found = new Map<number, number>();
  for (let n = 0; n < cards; n += 1) {
    const bucket = bucketNumberOf(idOf(n), shape);
    found.set(bucket, (found.get(bucket) ?? 0) + 1);
  }
  return found;
}

describe('nextResize', () => {
  it('grows bucket by bucket so that no mean is ever past 190, and stays where it is', () => {
    let shape: RingShape = { buckets: MIN_BUCKETS, split: 0 };
    expect(nextResize(shape, 100_000)).toBeNull();
    for (let cards = 0; cards <= 3_000_000; cards += 1_000) {
      shape = grown(cards, shape);
      expect(cards / shape.buckets).toBeLessThanOrEqual(190);
      if (cards > 200_000) expect(cards / (shape.buckets + shape.split)).toBeGreaterThan(90);
      expect(nextResize(shape, cards)).toBeNull();
    }
  });

  it('shrinks in the reverse order, to the least number of buckets, and no sooner than it pays', () => {
    let shape = grown(3_000_000);
    for (let cards = 3_000_000; cards >= 0; cards -= 1_000) {
      while (nextResize(shape, cards) === 'merge') shape = afterMerge(shape);
      expect(nextResize(shape, cards)).toBeNull();
      if (shape.buckets > MIN_BUCKETS)
        expect(cards / (shape.buckets + shape.split)).toBeGreaterThanOrEqual(49);
    }
    expect(shape).toEqual({ buckets: MIN_BUCKETS, split: 0 });
  });

  it('does not swing: neither after a split nor after a merge does it want the reverse', () => {
    for (let cards = 0; cards < 1_000_000; cards += 777) {
      const shape = grown(cards);
      expect(nextResize(shape, cards * 0.9)).not.toBe('merge');
    }
    expect(afterMerge(afterSplit({ buckets: 2_048, split: 2_047 }))).toEqual({
      buckets: 2_048,
      split: 2_047,
    });
    expect(afterMerge({ buckets: 2_048, split: 0 })).toEqual({ buckets: 1_024, split: 1_023 });
  });
});

describe('bucketOf', () => {
  it.each([
    ['dense ids', (n: number) => n + 1],
    ['even ids', (n: number) => n * 2],
    ['ids a power of two apart', (n: number) => n * 1024],
    ['ids a million apart', (n: number) => n * 1_000_000],
    ['ids past 2^32', (n: number) => 2 ** 33 + n * 7],
  ])('keeps every bucket below 400 cards for %s', (_, idOf) => {
    for (const cards of [140_000, 190_000, 700_000]) {
      expect(Math.max(...sizes(cards, idOf).values())).toBeLessThanOrEqual(LARGEST_BUCKET);
    }
  });

  it('puts eight neighbours into one bucket', () => {
    const buckets = 65_536;
    expect(new Set([80, 81, 82, 83, 84, 85, 86, 87].map((id) => bucketOf(id, buckets))).size).toBe(1);
  });

  it('keeps a card at its phase when the ring grows', () => {
    for (let id = 1; id < 100_000; id += 977) {
      expect(bucketOf(id, 1_024) / 1_024).toBeCloseTo(bucketOf(id, 65_536) / 65_536, 2);
    }
  });
});

const SHAPES: RingShape[] = [
  { buckets: 64, split: 0 },
  { buckets: 64, split: 1 },
  { buckets: 64, split: 40 },
  { buckets: 64, split: 63 },
];

describe('bucketAt', () => {
  it.each(SHAPES)('visits every bucket of %o once a revolution, in the order of phase', (shape) => {
    const steps = stepsOf(shape);
    const visited: number[] = [];
    for (let step = 3 * steps; step < 4 * steps; ) {
      const bucket = bucketAt(shape, step);
      visited.push(bucket.number);
      step += bucket.steps;
    }
    expect(new Set(visited).size).toBe(shape.buckets + shape.split);
    const begin = (n: number) => (n >= 128 ? (n - 128) / 128 : (n - 64) / 64);
    expect(visited.map(begin)).toEqual([...visited.map(begin)].sort((a, b) => a - b));
    // A step within a bucket is that bucket's.
    for (let step = 0; step < steps; step += 1) expect(visited).toContain(bucketAt(shape, step).number);
  });

  it('gives a bucket the halves 2n and 2n + 1', () => {
    for (let id = 1; id < 100_000; id += 9_973) {
      for (let shape: RingShape = { buckets: 64, split: 0 }; shape.buckets < 256; shape = afterSplit(shape)) {
        const before = bucketNumberOf(id, shape);
        const after = bucketNumberOf(id, afterSplit(shape));
        expect([before, 2 * before, 2 * before + 1]).toContain(after);
      }
    }
  });
});

describe('stepAtPhase', () => {
  it.each(SHAPES)('is the first step at or after each phase at which a bucket of %o begins', (shape) => {
    const steps = stepsOf(shape);
    const begins = [0, ...[...bucketsFrom(shape, 0)].map(({ nextStep }) => nextStep)];
    for (let eighth = 0; eighth <= 8 * steps; eighth += 1) {
      const first = begins.find((step) => step >= eighth / 8);
      expect(stepAtPhase(shape, eighth / 8 / steps)).toBe(first);
    }
  });
});

describe('bucketsFrom', () => {
  it.each(SHAPES)(
    'gives the buckets of %o to the end of the revolution, each with the step after it',
    (shape) => {
      const all = [...bucketsFrom(shape, 0)];
      expect(all).toHaveLength(shape.buckets + shape.split);
      let step = 0;
      for (const [index, { number, nextStep }] of all.entries()) {
        const bucket = bucketAt(shape, step);
        expect({ number, nextStep }).toEqual({ number: bucket.number, nextStep: step + bucket.steps });
        expect([...bucketsFrom(shape, step)]).toEqual(all.slice(index));
        step = nextStep;
      }
      expect(step).toBe(stepsOf(shape));
    },
  );
});

describe('nextDueAt', () => {
  it.each(SHAPES)(
    'is the due time of the first bucket at or after the cursor that holds the card in %o',
    (shape) => {
      const ring = {
        ...shape,
        taskType: 'realname',
        intervalMs: 64_000,
        anchorMs: 16 * 64_000,
        cursor: 2 * Math.floor(stepsOf(shape) * 0.6),
      } as const;
      const steps = stepsOf(shape);
      for (let id = 1; id < 2_000; id += 13) {
        const due = nextDueAt(ring, id);
        const step = Math.round(((due - ring.anchorMs) * steps) / 64_000);
        expect(step).toBeGreaterThanOrEqual(ring.cursor);
        expect(step).toBeLessThan(ring.cursor + steps);
        expect(bucketAt(shape, step).number).toBe(bucketNumberOf(id, shape));
        expect(dueAt(ring, step)).toBe(due);
        // At its beginning: the step before belongs to another one.
        expect(bucketAt(shape, step - 1).number).not.toBe(bucketNumberOf(id, shape));
      }
    },
  );

  it('moves by less than one bucket when the ring grows', () => {
    const ring = { taskType: 'realname', intervalMs: 64_000, anchorMs: 0, cursor: 0 } as const;
    for (let id = 1; id < 2_000; id += 13) {
      const shift =
        nextDueAt({ ...ring, buckets: 64, split: 30 }, id) -
        nextDueAt({ ...ring, buckets: 64, split: 0 }, id);
      expect([0, 500]).toContain(shift);
    }
  });
});

describe('the phase in absolute time', () => {
  const HOUR_MS = 3_600_000;
  const NOW_MS = Date.parse('2026-11-27T10:20:00Z');
  const SHAPE = { buckets: 1_024, split: 0 };

  it('the phase of a new ring follows from the clock alone: a card is due when it would have been', () => {
    const found = [0, 1_234_567, 50 * HOUR_MS + 1].map((laterMs) => {
      const nowMs = NOW_MS + laterMs;
      const ring: RingClock = {
        ...SHAPE,
        taskType: 'carddata',
        intervalMs: HOUR_MS,
        ...beginningOf('carddata', HOUR_MS, 1_024, nowMs),
      };
      const due = nextDueAt(ring, 4_711);
      expect(due).toBeGreaterThanOrEqual(nowMs);
      expect(due).toBeLessThan(nowMs + HOUR_MS);
      expect(dueAt(ring, ring.cursor - 1)).toBeLessThan(nowMs);
      return due % HOUR_MS;
    });
    expect(new Set(found).size).toBe(1);
  });

  it.each([1_000, 40_000, 1_800_000, 2_592_000_000])(
    'keeps the polls of one card a third of the interval apart: %i ms',
    (intervalMs) => {
      const dues = (['realname', 'carddata', 'package'] as const).map(
        (taskType) =>
          nextDueAt(
            { ...SHAPE, taskType, intervalMs, ...beginningOf(taskType, intervalMs, 1_024, NOW_MS) },
            815,
          ) % intervalMs,
      );
      const gaps = dues.map((due, i) => ((dues[(i + 1) % 3] as number) - due + intervalMs) % intervalMs);
      for (const gap of gaps) expect(Math.abs(gap - intervalMs / 3)).toBeLessThanOrEqual(1);
    },
  );

  /** Turns a ring whose anchor is so late; @returns the times between two polls of each card, in intervals. */
  function gapsOf(lateMs: number, turns = 4): number[] {
    const stepMs = HOUR_MS / 1_024;
    let ring: RingClock = {
      ...SHAPE,
      taskType: 'realname',
      intervalMs: HOUR_MS,
      anchorMs: 400_000 * HOUR_MS + lateMs,
      cursor: 300,
    };
    const polls = new Map<number, number[]>();
    for (; ring.cursor < 300 + turns * 1_024; ) {
      const at = polls.get(ring.cursor % 1_024) ?? [];
      polls.set(ring.cursor % 1_024, [...at, dueAt(ring, ring.cursor)]);
      ring = { ...ring, anchorMs: anchorAfter(ring, stepMs), cursor: ring.cursor + 1 };
    }
    expect(offPhaseMs(ring)).toBe(0);
    return [...polls.values()].flatMap((at) =>
      at.slice(1).map((time, i) => (time - (at[i] as number)) / HOUR_MS),
    );
  }

  it.each([0.02, 0.3, 0.5, 0.75, 0.89])(
    'is reached within one interval, by no more than twice the pace, from %f of an interval late',
    (share) => {
      const gaps = gapsOf(share * HOUR_MS);
      expect(Math.max(...gaps)).toBeLessThanOrEqual(1 + 1e-6);
      expect(Math.min(...gaps)).toBeGreaterThanOrEqual(0.5 - 1e-6);
    },
  );

  it.each([0.92, 0.999])('is waited for where the ring is early by a tenth or less: %f', (share) => {
    const gaps = gapsOf(share * HOUR_MS);
    expect(Math.max(...gaps)).toBeLessThanOrEqual(1.1 + 1e-6);
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(1 - 1e-6);
  });

  it('is reached as the due times say in advance', () => {
    for (const lateMs of [0.3 * HOUR_MS, 0.95 * HOUR_MS]) {
      const stepMs = HOUR_MS / 1_024;
      const start: RingClock = {
        ...SHAPE,
        taskType: 'realname',
        intervalMs: HOUR_MS,
        anchorMs: 400_000 * HOUR_MS + lateMs,
        cursor: 0,
      };
      let ring = start;
      for (let step = 0; step < 2_048; step += 1) {
        expect(dueAt(start, step)).toBeCloseTo(dueAt(ring, step), 1);
        ring = { ...ring, anchorMs: anchorAfter(ring, stepMs), cursor: step + 1 };
      }
    }
  });
});
