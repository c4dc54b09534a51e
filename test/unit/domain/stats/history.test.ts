import { expect, it } from 'vitest';
import {
  type HistorySample,
  meanOf,
  SAMPLE_FIELDS,
  slotOf,
  stepFor,
  type TaskSample,
} from '../../../../src/domain/stats/history.ts';
import { perTaskType } from '../../../../src/domain/task-type.ts';

const sample = (value: number, given: Partial<TaskSample> = {}): HistorySample => {
  const fields = Object.fromEntries(SAMPLE_FIELDS.map((field) => [field, value])) as unknown as TaskSample;
  return { atMs: 0, tasks: perTaskType(() => ({ ...fields, ...given })) };
};

it('the second comes round after a quarter of an hour, the minute after a day', () => {
  expect([slotOf('second', 0), slotOf('second', 999), slotOf('second', 1_000)]).toEqual([0, 0, 1]);
  expect([slotOf('second', 899_999), slotOf('second', 900_000)]).toEqual([899, 0]);
  expect([slotOf('minute', 59_999), slotOf('minute', 60_000)]).toEqual([0, 1]);
  expect([slotOf('minute', 86_399_999), slotOf('minute', 86_400_000)]).toEqual([1_439, 0]);
});

it('as long as there are seconds they are taken', () => {
  expect([stepFor(1), stepFor(15), stepFor(16), stepFor(1_440)]).toEqual([
    'second',
    'second',
    'minute',
    'minute',
  ]);
});

it('many are one by their means, over those that have the number', () => {
  const samples = [sample(1, { p95Ms: null }), sample(2, { p95Ms: 10 }), sample(2, { p95Ms: 20 })];
  const { atMs, tasks } = meanOf(5_000, samples);
  expect(atMs).toBe(5_000);
  expect(tasks).toEqual(sample(1.67, { p95Ms: 15 }).tasks);
  expect(meanOf(0, [sample(1, { p50Ms: null })]).tasks.package.p50Ms).toBeNull();
});
