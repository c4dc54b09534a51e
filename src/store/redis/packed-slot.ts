// One ten-second slot of the statistics as text: "<succeeded> <failed> <sum of durations> <counts>", the counts as
// `<duration bucket or failure reason>=<how many>` with commas between. Written by stats-record.lua, read by stats.ts.
import type { StatsDelta } from '../ports/poll-stats.ts';
import type { StatsSlot } from '../ports/stats-reading.ts';

export function packCounts({ durations = {}, reasons = {} }: StatsDelta): string {
  return Object.entries({ ...durations, ...reasons })
    .map(([key, count]) => `${key}=${count}`)
    .join(',');
}

export function unpackSlot(text: string): StatsSlot {
  const [succeeded, failed, durationMs, packed = ''] = text.split(' ');
  const durations: Record<number, number> = {};
  const reasons: Record<string, number> = {};
  for (const entry of packed === '' ? [] : packed.split(',')) {
    const [key = '', count] = entry.split('=');
    const bucket = Number(key);
    if (Number.isNaN(bucket)) reasons[key] = Number(count);
    else durations[bucket] = Number(count);
  }
  return {
    succeeded: Number(succeeded),
    failed: Number(failed),
    durationMs: Number(durationMs),
    durations,
    reasons,
  };
}
