// The daemon's samples as series for charts: one value per step over a range of time, null without a sample. Used by the views.
// The newest sample is the right end, so charts of one screen share their axis. When samples have stopped, the right end is now,
// so that the charts show the gap.
import type { TaskType } from '../domain/task-type.ts';
import type { HistoryBody } from '../resources/stats.ts';
import type { Series } from './charts.ts';

export type Measured = Exclude<keyof HistoryBody['items'][number]['tasks'][number], 'task_type'>;

export const CHART_MINUTES = 15;
/** Possible ranges of charts, minutes. A fleet that has just started gets short charts instead of empty ones. */
const STRETCHES = [1, 2, 5, CHART_MINUTES];

/** A sample comes every second, but the clock of the leader may be behind that of the instance that answers. */
const CEASED_AFTER_MS = 30_000;

/** @param nowMs when the daemon made the overview. */
function endOf(history: HistoryBody, nowMs: number): number {
  const newestMs = timesOf(history).at(-1) ?? nowMs;
  return nowMs - newestMs > CEASED_AFTER_MS ? nowMs : newestMs;
}

/** The range of the charts, minutes: the shortest that holds all samples. */
export function minutesOf(history: HistoryBody | null, nowMs: number): number {
  const knownMs = history === null ? Number.NaN : endOf(history, nowMs) - (timesOf(history)[0] ?? Number.NaN);
  return STRETCHES.find((minutes) => knownMs <= minutes * 60_000) ?? CHART_MINUTES;
}

const LATELY_SAMPLES = 10;

/** The mean of the last ten seconds, because the value of one second comes in bursts; null without a sample. */
export function latelyOf(series: Series): number | null {
  const known = series.slice(-LATELY_SAMPLES).filter((value) => value !== null);
  return known.length === 0 ? null : known.reduce((total, value) => total + value, 0) / known.length;
}

const SERIES = new WeakMap<HistoryBody, Map<string, Series>>();

/** Computed once for all frames with the same answers. @param history null before the first answer. */
export function seriesOf(
  history: HistoryBody | null,
  taskType: TaskType,
  measured: Measured,
  nowMs: number,
): Series {
  if (history === null) return newSeries(history, taskType, measured, nowMs);
  const known = SERIES.get(history) ?? new Map<string, Series>();
  SERIES.set(history, known);
  const key = `${taskType} ${measured} ${endOf(history, nowMs)}`;
  const series = known.get(key) ?? newSeries(history, taskType, measured, nowMs);
  known.set(key, series);
  return series;
}

function newSeries(
  history: HistoryBody | null,
  taskType: TaskType,
  measured: Measured,
  nowMs: number,
): Series {
  const stepSeconds = history?.step_seconds ?? 1;
  const length = Math.max(1, Math.round((minutesOf(history, nowMs) * 60) / stepSeconds));
  const series: (number | null)[] = Array.from({ length }, () => null);
  if (history === null) return series;
  const times = timesOf(history);
  const endMs = endOf(history, nowMs);
  for (const [i, { tasks }] of history.items.entries()) {
    const back = Math.round((endMs - (times[i] ?? 0)) / (1000 * stepSeconds));
    const sample = tasks.find(({ task_type }) => task_type === taskType);
    if (sample !== undefined && back >= 0 && back < length) series[length - 1 - back] = sample[measured];
  }
  return series;
}

const TIMES = new WeakMap<HistoryBody, readonly number[]>();

/** The times are parsed once for all charts and frames of a history. */
function timesOf(history: HistoryBody): readonly number[] {
  const known = TIMES.get(history);
  if (known !== undefined) return known;
  const times = history.items.map(({ at }) => Date.parse(at));
  TIMES.set(history, times);
  return times;
}

/** The newer samples, after the older ones that charts still show. Both are in order of time. */
export function merged(older: HistoryBody | null, newer: HistoryBody): HistoryBody {
  if (older === null || older.step_seconds !== newer.step_seconds) return newer;
  const [first] = newer.items;
  const newestMs = Date.parse(newer.items.at(-1)?.at ?? older.items.at(-1)?.at ?? '');
  const keptFromMs = newestMs - CHART_MINUTES * 60_000;
  const kept = older.items.filter(
    ({ at }) => Date.parse(at) > keptFromMs && (first === undefined || Date.parse(at) < Date.parse(first.at)),
  );
  return { ...newer, items: [...kept, ...newer.items] };
}
