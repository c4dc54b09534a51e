// The list of what may happen. A new fault is a file of faults/ and a line here.
import type { Fault, OwnFault } from './fault.ts';
import { clockOfInstance } from './faults/fleet/clock.ts';
import { freeze } from './faults/fleet/freeze.ts';
import { kill } from './faults/fleet/kill.ts';
import { countersRestart } from './faults/gateway/counters-restart.ts';
import { dead } from './faults/gateway/dead.ts';
import { late } from './faults/gateway/late.ts';
import { loses } from './faults/gateway/loses.ts';
import { nodeLags } from './faults/gateway/node-lags.ts';
import { otherCard } from './faults/gateway/other-card.ts';
import { receiverFails } from './faults/gateway/receiver-fails.ts';
import { refuses } from './faults/gateway/refuses.ts';
import { slow } from './faults/gateway/slow.ts';
import { stale } from './faults/gateway/stale.ts';
import { throttles } from './faults/gateway/throttles.ts';
import { wrongUnit } from './faults/gateway/wrong-unit.ts';
import { wrongValues } from './faults/gateway/wrong-values.ts';
import { clockBackAtTurn } from './faults/month/clock-back.ts';
import { exchangedAtTurn } from './faults/month/exchanged.ts';
import { cleanups } from './faults/operators/cleanups.ts';
import { configs } from './faults/operators/configs.ts';
import { disabledConfig } from './faults/operators/disabled.ts';
import { exchanges } from './faults/operators/exchanges.ts';
import { imports } from './faults/operators/imports.ts';
import { limits } from './faults/operators/limits.ts';
import { modes } from './faults/operators/modes.ts';
import { orders } from './faults/operators/orders.ts';
import { pauses } from './faults/operators/pauses.ts';
import { carrierMoves, removals } from './faults/operators/removals.ts';
import { resumeRuns } from './faults/operators/resume-runs.ts';
import { rules } from './faults/operators/rules.ts';
import { topUps } from './faults/operators/top-ups.ts';
import { triggers } from './faults/operators/triggers.ts';
import { triggeredTwice } from './faults/operators/twice.ts';
import { vainStops } from './faults/operators/vain-stops.ts';
import { verifiedAndMoved } from './faults/operators/verified.ts';
import { clockOfStore, liveClockBehind } from './faults/stores/clock.ts';
import { cut } from './faults/stores/cut.ts';
import { dataLost } from './faults/stores/data-lost.ts';
import { liveOfYesterday, liveReturns } from './faults/stores/live-returns.ts';
import { lossy } from './faults/stores/lossy.ts';
import { recordsReturn } from './faults/stores/records-return.ts';
import { silent } from './faults/stores/silent.ts';
import { slowWay } from './faults/stores/slow-way.ts';
import type { StoreKind } from './live/world-live.ts';

export const FAULTS: readonly Fault[] = [
  ...[cut, silent, lossy, slowWay, dataLost, liveReturns, liveOfYesterday, recordsReturn, clockOfStore],
  ...[kill, freeze, clockOfInstance],
  ...[slow, throttles, dead, loses, late, stale, otherCard, wrongUnit, refuses, receiverFails],
  ...[imports, triggers, orders, modes, pauses, cleanups, limits, resumeRuns, rules],
  ...[topUps, exchanges, vainStops],
];

/** Each is drawn by itself, and a night has it or not. */
export const OWN_FAULTS: readonly OwnFault[] = [
  ...[wrongValues, nodeLags, countersRestart],
  ...[configs, disabledConfig, removals, carrierMoves, triggeredTwice, verifiedAndMoved],
  ...[exchangedAtTurn, clockBackAtTurn, liveClockBehind],
];

export function faultsOn(store: StoreKind): Fault[] {
  return FAULTS.filter(({ only }) => only === undefined || only === store);
}
