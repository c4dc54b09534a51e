// The list of what may happen. A new fault is a file of faults/ and a line here.
import type { Fault } from './fault.ts';
import { clockOfInstance } from './faults/fleet/clock.ts';
import { freeze } from './faults/fleet/freeze.ts';
import { kill } from './faults/fleet/kill.ts';
import { dead } from './faults/gateway/dead.ts';
import { late } from './faults/gateway/late.ts';
import { loses } from './faults/gateway/loses.ts';
import { otherCard } from './faults/gateway/other-card.ts';
import { receiverFails } from './faults/gateway/receiver-fails.ts';
import { refuses } from './faults/gateway/refuses.ts';
import { slow } from './faults/gateway/slow.ts';
import { stale } from './faults/gateway/stale.ts';
import { throttles } from './faults/gateway/throttles.ts';
import { wrongUnit } from './faults/gateway/wrong-unit.ts';
import { cleanups } from './faults/operators/cleanups.ts';
import { exchanges } from './faults/operators/exchanges.ts';
import { imports } from './faults/operators/imports.ts';
import { limits } from './faults/operators/limits.ts';
import { modes } from './faults/operators/modes.ts';
import { orders } from './faults/operators/orders.ts';
import { pauses } from './faults/operators/pauses.ts';
import { resumeRuns } from './faults/operators/resume-runs.ts';
import { rules } from './faults/operators/rules.ts';
import { topUps } from './faults/operators/top-ups.ts';
import { triggers } from './faults/operators/triggers.ts';
import { vainStops } from './faults/operators/vain-stops.ts';
import { clockOfStore } from './faults/stores/clock.ts';
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

export function faultsOn(store: StoreKind): Fault[] {
  return FAULTS.filter(({ only }) => only === undefined || only === store);
}
