// What a night is like, next to its faults: its zone and when the month turns, how the gateway is called, what is configured. Each is drawn
// from a stream of its own, so that one more of them changes nothing but the nights that have it.
import { INTERFACE_NAMES } from '../../src/domain/gateway-interface.ts';
import type { GatewayChanges } from '../support/gateway-config.ts';
import type { Random } from './virtual/random.ts';

/** To recover in. */
const CALM_MS = 480_000;
/** What prepares the turn of a month needs so long, and what follows it needs the rest. */
const BEFORE_TURN_MS = 140_000;
const AFTER_TURN_MS = 40_000;

/** Months that turn near a change of the clocks: the last day has 25 hours, the first one has, the last week began with a day of 23. */
const DAYLIGHT_SAVING = [
  { timeZone: 'Europe/Berlin', turnsAt: '2027-10-31T23:00:00Z' },
  { timeZone: 'America/New_York', turnsAt: '2026-11-01T04:00:00Z' },
  { timeZone: 'Africa/Cairo', turnsAt: '2027-04-30T21:00:00Z' },
] as const;
export const TIME_ZONE = 'Asia/Shanghai';
/** An ordinary month, a year, February. */
const TURNS = ['2026-11-30T16:00:00Z', '2026-12-31T16:00:00Z', '2027-02-28T16:00:00Z'];
/** A night begins up to so long before a month turns, where it is not drawn that the month turns in it. */
const EVENING_MS = 7_200_000;
const USUAL_MB_PER_HOUR = 30;
/** Also so late that a night of ten minutes ends before. */
const MOST_LATE_MS = 240_000;

export interface Nature {
  readonly timeZone: string;
  /** Wall clock when the night begins. */
  readonly epochMs: number;
  /** The month turns so long after the night begins. */
  readonly turnsAfterMs: number;
  /** The counters of the gateway restart so long after the month turns; negative: before. */
  readonly countersLateMs: number;
  /** Stops of an hour, as a share of the fleet; null: a number. */
  readonly budgetPercent: number | null;
  /** Most cards of one call for usage; 1: no batches. */
  readonly cardsPerCall: number;
  /** The gateway knows SIMs by numbers of its own. */
  readonly hasVendorIds: boolean;
  readonly resumesAtMonthStart: boolean;
  /** What the live store remembers of the day before, median growth; null: nothing. */
  readonly usualMbPerHour: number | null;
  /** Cards in one step of the walk over all of them. */
  readonly initBatch: number;
}

interface Of {
  readonly seed: number;
  readonly minutes: number;
  readonly cards: number;
}

/** @returns when the faults of a night end. */
export function disorderMs({ minutes }: Pick<Of, 'minutes'>): number {
  return Math.max((minutes * 60_000) / 2, minutes * 60_000 - CALM_MS);
}

/** @param random the world's: what this draws from it, worlds drew from it before they had a nature */
export function natureOf(night: Of, random: Random): Nature {
  return { ...placeOf(night, random), ...setUpOf(night, random) };
}

function placeOf(night: Of, random: Random): Pick<Nature, 'timeZone' | 'epochMs' | 'turnsAfterMs'> {
  const usual = { timeZone: TIME_ZONE, turnsAt: random.oneOf(TURNS) };
  const usualAfterMs = EVENING_MS - random.below(EVENING_MS);
  const draw = random.stream('zone and turn');
  const { timeZone, turnsAt } = draw.chance(0.2) ? draw.oneOf(DAYLIGHT_SAVING) : usual;
  const latestMs = disorderMs(night) - AFTER_TURN_MS;
  const isInNight = draw.chance(0.4) && latestMs > BEFORE_TURN_MS;
  const turnsAfterMs = isInNight ? draw.between(BEFORE_TURN_MS, latestMs) : usualAfterMs;
  return { timeZone, turnsAfterMs, epochMs: Date.parse(turnsAt) - turnsAfterMs };
}

function setUpOf({ cards }: Of, random: Random): Omit<Nature, 'timeZone' | 'epochMs' | 'turnsAfterMs'> {
  const counters = random.stream('counters');
  const calls = random.stream('cards a call');
  const settings = random.stream('settings');
  return {
    countersLateMs: counters.chance(0.3) ? counters.between(-MOST_LATE_MS, MOST_LATE_MS) : 0,
    cardsPerCall: calls.chance(0.35) ? calls.between(3, 10) : 1,
    hasVendorIds: calls.chance(0.25),
    budgetPercent: settings.chance(0.25) ? settings.oneOf([3, 10, 30]) : null,
    resumesAtMonthStart: settings.chance(0.5),
    usualMbPerHour: random.stream('the day before').chance(0.5) ? USUAL_MB_PER_HOUR : null,
    initBatch: settings.chance(0.5) ? Math.ceil(cards / settings.between(3, 6)) : 100_000,
  };
}

/** How the gateway of such a night is called. */
export function interfacesOf({
  cardsPerCall,
  hasVendorIds,
}: Pick<Nature, 'cardsPerCall' | 'hasVendorIds'>): NonNullable<GatewayChanges['interfaces']> {
  const byId = hasVendorIds
    ? Object.fromEntries(INTERFACE_NAMES.map((name) => [name, { body: { id: '{vendor_id}' } }]))
    : {};
  if (cardsPerCall === 1) return byId;
  const batch = { size: cardsPerCall, items: 'data.cards', iccid: 'iccid', join: ',' };
  const reading = { kind: 'megabytes', value: 'used', unit: 'MB' } as const;
  return { ...byId, flow: { path: '/cards/flow', body: { iccids: '{iccids}' }, batch, reading } };
}
