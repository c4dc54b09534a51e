// The stops of a fleet in which none waits, as operations read them.
import type { StopFigures } from '../../src/health/stop-figures.ts';

export const CALM_STOPS: StopFigures = {
  mode: 'enforce',
  setMode: null,
  jump: null,
  doneHour: 12,
  doneDay: 340,
  doneTwoMinutes: 1,
  waitsForWatch: false,
  quarterOfYesterday: 4,
  budgetHour: 100,
  budgetDay: 500,
  fleetCards: 10_000,
  held: 0,
  heldForOperator: 0,
  heldUntilMs: null,
  observed: 0,
  unconfirmed: 0,
  released: 0,
  resumedDay: 0,
  overRunning: { count: 0, atMs: 1, cardIds: [] },
  stoppedWithin: { count: 0, atMs: 1, cardIds: [] },
};
