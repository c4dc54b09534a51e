// What a run of the flow bench says: one row of the table and of the last line. Used by the scenarios and the entry.
import type { InterfaceName } from '../../../src/domain/gateway-interface.ts';
import { printTable } from '../table.ts';
import { POLLED, type Rates, sumOf, type TroubledFleet } from './troubled-fleet.ts';

/** Of what the gateway could have answered well. */
export const GOAL_RATIO = 0.9;
/** Of its pace, when the trouble is over. */
export const BACK = 0.9;
export const BACK_WITHIN_MS = 90_000;
/** From its beginning until the trouble is measured, and for how long then: a revolution of the rings. */
export const SETTLE_MS = 20_000;
export const MEASURE_MS = 30_000;

export interface Row {
  readonly name: string;
  /** Good answers a second before the trouble and in it, in the order of POLLED. */
  readonly before: readonly number[];
  readonly good: readonly number[];
  /** Calls a second, of all interfaces. */
  readonly calls: number;
  /** Of the good answers that were possible; null: none was. */
  readonly ratio: number | null;
  /** The same of the interface that is worst off. */
  readonly worst: number | null;
  /** Further numbers of a scenario, by their names. */
  readonly more: Readonly<Record<string, number | null>>;
  /** What is aimed at, in words. */
  readonly goal: string;
  readonly met: boolean;
}

/** A run that a scenario would do; `name` begins with the scenario's. */
export interface Run {
  readonly name: string;
  readonly measure: () => Promise<Row>;
}

export function ratesOf({ before }: TroubledFleet, during: Rates): Pick<Row, 'before' | 'good' | 'calls'> {
  return {
    before: POLLED.map((name) => before.good.get(name) ?? 0),
    good: POLLED.map((name) => during.good.get(name) ?? 0),
    calls: sumOf(during.calls),
  };
}

/** What these interfaces got of the good answers that were possible, together and the worst of them. */
export function ratiosOf(
  { before }: TroubledFleet,
  during: Rates,
  interfaces: readonly InterfaceName[],
  possible: number,
): { readonly ratio: number; readonly worst: number } {
  const ratio = (of: readonly InterfaceName[]) =>
    sumOf(during.good, of) / (sumOf(before.good, of) * possible);
  return { ratio: ratio(interfaces), worst: Math.min(...interfaces.map((name) => ratio([name]))) };
}

/** Calls a second that interfaces may get which answer nobody: a hundredth of what they got before, or one each. */
export function allowedCalls(before: Rates, interfaces: readonly InterfaceName[]): number {
  return interfaces.reduce((sum, name) => sum + Math.max(1, 0.01 * (before.calls.get(name) ?? 0)), 0);
}

/** The row of a trouble in which `possible` of the calls can succeed. */
export function rowOf(
  name: string,
  fleet: TroubledFleet,
  during: Rates,
  possible: number,
  more: Row['more'] = {},
): Row {
  const ratios = ratiosOf(fleet, during, POLLED, possible);
  return {
    name,
    ...ratesOf(fleet, during),
    ...ratios,
    more,
    goal: `ratio ${GOAL_RATIO}`,
    met: ratios.ratio >= GOAL_RATIO,
  };
}

export function printRows(rows: readonly Row[]): void {
  const sum = (rates: readonly number[]) => rates.reduce((total, rate) => total + rate, 0);
  printTable(
    ['good answers a second', 'before', ...POLLED, 'sum', 'ratio', 'worst', 'calls/s', 'goal', ''],
    rows.map((row) => [
      row.name,
      sum(row.before).toFixed(0),
      ...row.good.map((rate) => rate.toFixed(1)),
      sum(row.good).toFixed(1),
      row.ratio?.toFixed(2) ?? '-',
      row.worst?.toFixed(2) ?? '-',
      row.calls.toFixed(1),
      `${row.met ? 'ok' : 'short'}, ${row.goal}`,
      Object.entries(row.more)
        .map(([what, value]) => `${what} ${value === null ? 'never' : rounded(value)}`)
        .join(', '),
    ]),
  );
}

export function jsonOf({ name, before, good, calls, ratio, worst, more, met }: Row): Record<string, unknown> {
  return {
    name,
    before: before.map(rounded),
    good: good.map(rounded),
    calls: rounded(calls),
    ratio: ratio === null ? null : rounded(ratio),
    worst: worst === null ? null : rounded(worst),
    ...Object.fromEntries(
      Object.entries(more).map(([what, value]) => [
        what.replaceAll(' ', '_'),
        value === null ? null : rounded(value),
      ]),
    ),
    met,
  };
}

function rounded(value: number): number {
  return Number(value.toFixed(value < 10 ? 3 : 1));
}
