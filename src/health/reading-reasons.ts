// Doubtful readings of usage. They are not counted, so no other number shows them, and they are believed as soon as the growth
// fits the time that has passed. For the health of the fleet (health-reasons.ts), and for a card whose usage may stand still
// although it is polled (explain/task-explanation.ts). Pure.
//
// A reading that grew by more than a card can transfer is not stored; only the log has it. So the explanation of a card gives the
// number of such readings in the fleet, and the place to look for the card's own.

import type { UsageMonth } from '../domain/cards/usage-month.ts';
import { percentDown, roundedMb } from '../domain/numbers.ts';
import { type CarrierCards, cardsOfCarriers } from '../domain/schedule/card-counts.ts';
import type { StopMode } from '../domain/stops/stop.ts';
import { grouped, spanWords } from '../domain/words.ts';
import type { StatsReading } from '../store/ports/live/poll-stats.ts';
import type { Cause } from './reason.ts';

/** Readings of usage in the last seconds, or in five minutes if there are few. */
export interface ReadingCounts {
  readonly total: number;
  readonly seconds: number;
  /** Doubtful readings; 0 for a task type that reads no usage. */
  readonly implausible: number;
  /** Readings of cards that have used something, and how many of them stay far below that. */
  readonly counters: number;
  readonly fallen: number;
  /** For how many minutes no reading of the fleet has grown, although it should; null: readings grow, or it is unknown. */
  readonly stillMinutes: number | null;
  /** The mode of stops in force; null: unknown. */
  readonly stopMode: StopMode | null;
}

/** A share of fewer readings than this means little. */
const LEAST_READINGS = 10;
const IMPLAUSIBLE_PERCENT = { warningAbove: 5, alertAbove: 50 };
const DEAD_PERCENT = { warningAbove: 20, alertAbove: 50 };

export function readingReasons(counts: ReadingCounts): Cause[] {
  const dead = deadReasons(counts);
  return [...implausibleReasons(counts), ...(dead.length > 0 ? dead : stillReasons(counts))];
}

/** A warning, because the devices may really use nothing. */
function stillReasons({ stillMinutes, total, seconds }: ReadingCounts): Cause[] {
  if (stillMinutes === null) return [];
  const text =
    `no reading has grown for ${spanWords(60 * stillMinutes)} (${grouped(total)} in the last ${spanWords(seconds)}), unlike at this hour of the last days: ` +
    'the gateway may answer with old usage, and no card that goes over its package is found; compare some with the carrier';
  return [{ code: 'readings_dead', severity: 'warning', text, command: 'cardpoll doctor' }];
}

/** The usage stays unchanged, and no card is stopped by such readings: the right one to stop is unknown. */
function deadReasons({ counters, seconds, fallen }: ReadingCounts): Cause[] {
  const percent = (100 * fallen) / Math.max(1, counters);
  if (counters < LEAST_READINGS || percent <= DEAD_PERCENT.warningAbove) return [];
  const text =
    `${grouped(fallen)} of ${grouped(counters)} readings of the last ${spanWords(seconds)} repeatedly show less than half of what their cards had used (${percentDown(percent, 1)} %): ` +
    'the usage of these cards is not known any more, and none that goes over its package is stopped; compare some with the carrier';
  const severity = percent > DEAD_PERCENT.alertAbove ? 'alert' : 'warning';
  return [{ code: 'readings_dead', severity, text, command: 'cardpoll doctor' }];
}

function implausibleReasons({ total, seconds, implausible, stopMode }: ReadingCounts): Cause[] {
  const percent = (100 * implausible) / Math.max(1, total);
  if (total < LEAST_READINGS || percent <= IMPLAUSIBLE_PERCENT.warningAbove) return [];
  const text =
    `${grouped(implausible)} of ${grouped(total)} readings of the last ${spanWords(seconds)} were not believed (${percentDown(percent, 1)} %): ` +
    'they grew faster than a card can transfer, and count only when enough time has passed; compare some with the carrier, and check the unit of the gateway profile';
  const severity = percent > IMPLAUSIBLE_PERCENT.alertAbove ? 'alert' : 'warning';
  // Wrong readings would stop cards once they are believed.
  const command =
    stopMode === 'observe'
      ? 'cardpoll gateway profiles'
      : "cardpoll stops mode observe --reason 'readings are not believed'";
  return [{ code: 'implausible_readings', severity, text, command }];
}

/** @param usage null: no reading yet, or a task type that reads no usage. */
export function doubtWords(usage: UsageMonth | null, { window }: Pick<StatsReading, 'window'>): string[] {
  return [...suspectedWords(usage), ...implausibleWords(window)];
}

function suspectedWords(usage: UsageMonth | null): string[] {
  if (usage === null || usage.suspectedMb === null) return [];
  const { suspectedMb, lastReadingMb, readAtMs } = usage;
  return [
    `its reading of ${new Date(readAtMs).toISOString()} is not believed yet: ${roundedMb(suspectedMb)} MB after ${roundedMb(lastReadingMb)} MB. It counts when further readings show that the counter restarted (within a month, after a day)`,
  ];
}

function implausibleWords({ succeeded: total, seconds, implausible }: StatsReading['window']): string[] {
  const counts = { total, seconds, implausible, counters: 0, fallen: 0, stillMinutes: null, stopMode: null };
  if (implausibleReasons(counts).length === 0) return [];
  return [
    `${implausible} of ${total} readings of the fleet were not believed in the last five minutes: if its own are among them, its log lines have implausible_mb`,
  ];
}

/** A warning: what such a card uses is not counted, until its counter is believed. */
export function doubtReasons(inDoubt: readonly CarrierCards[]): Cause[] {
  const [first] = inDoubt;
  if (first === undefined) return [];
  const text =
    `${cardsOfCarriers(inDoubt)}: their counters fell below what they had shown, and count nothing until they have grown for a day; ` +
    'compare some with the carrier';
  return [
    {
      code: 'counters_in_doubt',
      severity: 'warning',
      text,
      command: `cardpoll cards list --carrier-id ${first.carrierId}`,
    },
  ];
}
