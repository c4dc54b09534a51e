import { describe, expect, it } from 'vitest';
import {
  afterMerge,
  afterSplit,
  bucketAt,
  bucketNumberOf,
  bucketOf,
  bucketsFrom,
  dueAt,
  MIN_BUCKETS,
  nextDueAt,
  nextResize,
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
    for (const cards of [140_000, 190_000, 700_000, 1_000_000]) {
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
        intervalMs: 64_000,
        anchorMs: 1_000_000,
        cursor: 2 * Math.floor(stepsOf(shape) * 0.6),
      };
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
    const ring = { intervalMs: 64_000, anchorMs: 0, cursor: 0 };
    for (let id = 1; id < 2_000; id += 13) {
      const shift =
        nextDueAt({ ...ring, buckets: 64, split: 30 }, id) -
        nextDueAt({ ...ring, buckets: 64, split: 0 }, id);
      expect([0, 500]).toContain(shift);
    }
  });
});
