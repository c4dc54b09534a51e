// The stops of the fleet in numbers: the mode in force, the budget, and how many stops were made or wait. Read every few seconds
// by the judge (fleet-health.ts). Derives reasons for health-reasons.ts: stops without effect, held stops, and readings that grow
// too fast to be believed.

import {
  OVER_RUNNING_COUNTED,
  STOPS_COUNTED,
  type StopSettings,
  stopRulesOf,
  UNCONFIRMED_STOPS_COUNTED,
} from '../domain/stops/stop.ts';
import { grouped } from '../domain/words.ts';
import type { RecordStore } from '../store/ports/records/record-store.ts';
import type { Cause } from './reason.ts';

export type StopFigures = Awaited<ReturnType<typeof readStopFigures>>;

/** Throws CardpollError `unavailable` when the record store does not answer. */
export async function readStopFigures(
  {
    cards,
    stops,
    stopControl,
    stoppedWithin,
  }: Pick<RecordStore, 'cards' | 'stops' | 'stopControl' | 'stoppedWithin'>,
  settings: StopSettings,
) {
  // One after the other: while a table is locked, this holds only one connection.
  const control = await stopControl.read();
  const unconfirmed = await stops.unconfirmed();
  const overRunning = await stops.overRunning();
  const within = await stoppedWithin.counted();
  const fleetCards = await cards.counted();
  const { mode, maxPerHour, maxPerDay } = stopRulesOf(settings, fleetCards);
  return {
    ...control,
    mode: control.setMode?.mode ?? mode,
    // By the settings of this instance; null: no limit.
    budgetHour: maxPerHour,
    budgetDay: maxPerDay,
    // The number of cards of which the shares are taken.
    fleetCards,
    unconfirmed,
    // null: no walk of this month has ended.
    overRunning,
    stoppedWithin: within,
  };
}

/** @param stops null: unknown, or the task type stops no cards. */
export function stopReasons(stops: StopFigures | null): Cause[] {
  return stops === null
    ? []
    : [
        ...surgeReasons(stops),
        ...jumpReasons(stops),
        ...heldReasons(stops),
        ...unconfirmedReasons(stops),
        ...overRunningReasons(stops),
        ...stoppedWithinReasons(stops),
      ];
}

/**
 * An alert: a metric is one at four or five times its normal value (operations interface, section 8), and readings jump at twenty
 * times. Either the gateway is wrong about the whole fleet, or no card over its package is stopped.
 */
function jumpReasons({ jump, mode }: StopFigures): Cause[] {
  if (jump === null || jump.acceptedAtMs !== null) return [];
  const { factor, recentMbPerHour: recent, baselineMbPerHour: before, sinceMs, isStep, carrierId } = jump;
  const where = carrierId === null ? '' : ` of carrier ${carrierId}`;
  const effect = mode === 'observe' ? 'stops are only observed' : `all stops${where} are held`;
  const what = isStep
    ? `the readings of most cards${where} over their package stepped alike (same factor, amount or value), as after a change of unit or counter`
    : `the readings of the fleet grow ${figure(factor)} times as fast as before (${figure(recent)} instead of ${figure(before)} MB an hour)`;
  const text = `${what}: ${effect}; check whether the readings are right, then accept them with cardpoll stops mode enforce`;
  // Accepting the readings stops cards, so the advice is to look first.
  const command = `cardpoll stops list --state ${mode === 'observe' ? 'observed' : 'held'}`;
  return [{ code: 'usage_jump', severity: 'alert', text, command, sinceMs }];
}

/** This many times the usual number of stops is a surge. */
const SURGE_TIMES = 10;
const SURGE_STOPS = 20;

/**
 * Customers are cut off, so the alert comes before the budget is used up, in time to intervene. Usual is the day without this
 * hour. Meters that upload at the same time every day also stop cards at the same time: up to yesterday's number for a quarter of
 * an hour then is normal.
 */
function surgeReasons({
  doneTwoMinutes: done,
  doneHour,
  doneDay,
  quarterOfYesterday,
  mode,
}: StopFigures): Cause[] {
  const usual = (doneDay - doneHour) / (23 * 30);
  const many = Math.max(SURGE_STOPS, SURGE_TIMES * usual, quarterOfYesterday + 1);
  if (mode === 'observe' || done < many) return [];
  const text = `${figure(done)} cards stopped in 2 min, usually ${figure(usual)}: make sure that the readings are right`;
  const command = "cardpoll stops mode observe --reason 'too many stops'";
  return [{ code: 'stop_surge', severity: 'alert', text, command }];
}

const WAITS_FOR_WATCH: Cause = {
  code: 'stops_held',
  severity: 'warning',
  text: 'many cards stepped over their package together: further stops wait for 10 min at most, while their readings are compared',
  command: 'cardpoll stops list --state requested',
};

function heldReasons(stops: StopFigures): Cause[] {
  const { held, waitsForWatch } = stops;
  if (held === 0) return waitsForWatch ? [WAITS_FOR_WATCH] : [];
  const are = held === 1 ? 'stop is' : 'stops are';
  const text = `${countedUpTo(STOPS_COUNTED, held)} ${are} held${holdWords(stops)}; ${endWords(stops)}`;
  return [{ code: 'stops_held', severity: 'warning', text, command: 'cardpoll stops list --state held' }];
}

function holdWords({ held, doneHour, budgetHour, doneDay, budgetDay, jump }: StopFigures): string {
  if (jump !== null && jump.acceptedAtMs === null) return ': the readings of the fleet jumped';
  const usedUp = [
    ...(budgetHour !== null && doneHour >= budgetHour
      ? [`${figure(doneHour)} of ${figure(budgetHour)} in the last hour`]
      : []),
    ...(budgetDay !== null && doneDay >= budgetDay
      ? [`${figure(doneDay)} of ${figure(budgetDay)} in the last day`]
      : []),
  ];
  if (usedUp.length > 0) return `: the stop budget is used up (${usedUp.join(', ')})`;
  return ` although ${held === 1 ? 'its' : 'their'} cause is over`;
}

/** The event that ends the holds: a reading of the card after the end of the cause, or an operator. */
function endWords({
  held,
  heldForOperator,
  heldUntilMs,
  budgetHour,
  budgetDay,
  jump,
  mode,
}: StopFigures): string {
  // A budget of 0 would hold every stop again.
  const doubtful = budgetHour === 0 || budgetDay === 0 ? held : heldForOperator;
  const passing = held - doubtful;
  const counted = (count: number) => `${held < STOPS_COUNTED ? '' : 'at least '}${figure(count)}`;
  const [are, whose, s, first] =
    passing === 1
      ? (['is', "its card's", '', ''] as const)
      : (['are', "their cards'", 's', 'the first '] as const);
  const reading = jump === null ? `next reading${s}` : `first reading${s} after the jump`;
  const since =
    heldUntilMs === null ? '' : ` (${first}from ${new Date(heldUntilMs).toISOString().slice(0, 16)}Z on)`;
  const [wait, them] = doubtful === 1 ? ['waits', 'it'] : ['wait', 'them'];
  // Mode observe refuses a release.
  const advice =
    mode === 'observe' ? `dismiss ${them}, or release ${them} in mode enforce` : `release or dismiss ${them}`;
  return [
    ...(passing > 0 ? [`${counted(passing)} ${are} decided by ${whose} ${reading}${since}`] : []),
    ...(doubtful > 0 ? [`${counted(doubtful)} ${wait} for an operator: ${advice}`] : []),
  ].join('; ');
}

function unconfirmedReasons({ unconfirmed: cards }: StopFigures): Cause[] {
  if (cards === 0) return [];
  const [noun, them] = cards === 1 ? ['card', 'it'] : ['cards', 'them'];
  const count = countedUpTo(UNCONFIRMED_STOPS_COUNTED, cards);
  const text = `the gateway acknowledged the stop of ${count} ${noun} but did not stop ${them}`;
  return [
    { code: 'stop_unconfirmed', severity: 'warning', text, command: 'cardpoll stops list --state requested' },
  ];
}

/** An alert: no other figure shows that cards over their package keep running. */
function overRunningReasons({ overRunning }: StopFigures): Cause[] {
  const cardId = overRunning?.cardIds[0];
  if (overRunning === null || cardId === undefined) return [];
  const { count } = overRunning;
  const cards = count === 1 ? 'card is over its package and runs' : 'cards are over their package and run';
  const text =
    `${countedUpTo(OVER_RUNNING_COUNTED, count)} ${cards}, and no stop is open: ` +
    `see why card ${cardId} is not stopped`;
  return [{ code: 'over_running', severity: 'alert', text, command: `cardpoll explain ${cardId}` }];
}

/** A warning: no additional customer is cut off, and an operator may have reasons. */
function stoppedWithinReasons({ stoppedWithin }: StopFigures): Cause[] {
  const count = stoppedWithin?.count ?? 0;
  if (count === 0) return [];
  const cards = count === 1 ? 'card is stopped although it is' : 'cards are stopped although they are';
  const text = `${countedUpTo(OVER_RUNNING_COUNTED, count)} ${cards} within the package: cardpoll stopped ${count === 1 ? 'it' : 'them'} for more usage than the package had then`;
  const command = "cardpoll stops resume --within --reason 'within the package'";
  return [{ code: 'stopped_within', severity: 'warning', text, command }];
}

function countedUpTo(most: number, count: number): string {
  return count < most ? figure(count) : `at least ${figure(most)}`;
}

/** Two significant digits below ten, otherwise whole and grouped: 0.052, 1,024. */
function figure(value: number): string {
  return value !== 0 && value < 10 ? String(Number(value.toPrecision(2))) : grouped(Math.round(value));
}
