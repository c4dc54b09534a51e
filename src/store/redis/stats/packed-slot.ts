// One ten-second slot of the statistics as text: "<succeeded> <failed> <sum of durations> <counts> <carriers> <sum of the
// durations of succeeded polls> <implausible readings>", the counts as `<duration bucket or failure reason>=<how many>`, the carriers as `<id>:<polls>:<failed>`, with commas
// between. Written by stats-record.lua, read by stats.ts. An older version ignores what it does not know, and leaves it out
// when it writes.
// Also one minute of the growth of usage: counts by rate.

import type { Counts } from '../../../domain/numbers.ts';
import type { CarrierPolls } from '../../../domain/results/carrier-polls.ts';
import type { GrowthCounts } from '../../../domain/results/usage-growth.ts';
import type { StatsDelta } from '../../ports/live/poll-stats.ts';
import type { StatsSlot } from '../../ports/live/stats-reading.ts';

export function packCounts({ durations = {}, reasons = {} }: StatsDelta): string {
  return packed({ ...durations, ...reasons });
}

export function packGrowth({ usageGrowth = {} }: StatsDelta): string {
  return packed(usageGrowth);
}

export function unpackGrowth(text: string): GrowthCounts {
  return Object.fromEntries(entriesOf(text).map((entry) => entry.split('=').map(Number)));
}

function packed(counts: Counts<string>): string {
  return Object.entries(counts)
    .map(([key, count]) => `${key}=${count}`)
    .join(',');
}

export function packCarriers({ carriers = new Map() }: StatsDelta): string {
  return [...carriers].map(([carrierId, { polls, failed }]) => `${carrierId}:${polls}:${failed}`).join(',');
}

export function unpackSlot(text: string): StatsSlot {
  const [
    succeeded = 0,
    failed = 0,
    durationMs = 0,
    counts = '',
    carriers = '',
    succeededMs,
    implausible = 0,
  ] = text.split(' ');
  const share = Number(succeeded) / Math.max(1, Number(succeeded) + Number(failed));
  const durations: Record<number, number> = {};
  const reasons: Record<string, number> = {};
  for (const entry of entriesOf(counts)) {
    const [key = '', count] = entry.split('=');
    const bucket = Number(key);
    if (Number.isNaN(bucket)) reasons[key] = Number(count);
    else durations[bucket] = Number(count);
  }
  return {
    succeeded: Number(succeeded),
    failed: Number(failed),
    durationMs: Number(durationMs),
    succeededMs: succeededMs === undefined ? share * Number(durationMs) : Number(succeededMs),
    implausible: Number(implausible),
    durations,
    reasons,
    carriers: new Map(entriesOf(carriers).map(unpackCarrier)),
  };
}

function unpackCarrier(entry: string): [carrierId: number, CarrierPolls] {
  const [carrierId = 0, polls = 0, failed = 0] = entry.split(':').map(Number);
  return [carrierId, { polls, failed }];
}

function entriesOf(packed: string): string[] {
  return packed === '' ? [] : packed.split(',');
}
