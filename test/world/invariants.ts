// The list of invariants. A new one is a file of invariants/ and a line here.
import type { Invariant } from './invariant.ts';
import { alerts } from './invariants/alerts.ts';
import { budget } from './invariants/budget.ts';
import { claimed } from './invariants/claimed.ts';
import { cleanup } from './invariants/cleanup.ts';
import { counters } from './invariants/counters.ts';
import { cutWithin } from './invariants/cut-within.ts';
import { dated } from './invariants/dated.ts';
import { disabled } from './invariants/disabled.ts';
import { fenced } from './invariants/fenced.ts';
import { flags } from './invariants/flags.ts';
import { held } from './invariants/held.ts';
import { inForce } from './invariants/in-force.ts';
import { jump } from './invariants/jump.ts';
import { leader } from './invariants/leader.ts';
import { limit } from './invariants/limit.ts';
import { liveness } from './invariants/liveness.ts';
import { memory } from './invariants/memory.ts';
import { modes } from './invariants/modes.ts';
import { months } from './invariants/months.ts';
import { oneCall } from './invariants/one-call.ts';
import { onlyOver } from './invariants/only-over.ts';
import { orders } from './invariants/orders.ts';
import { overStopped } from './invariants/over-stopped.ts';
import { rate } from './invariants/rate.ts';
import { resumes } from './invariants/resumes.ts';
import { retries } from './invariants/retries.ts';
import { rings } from './invariants/rings.ts';
import { stopOnce } from './invariants/stop-once.ts';
import { triggers } from './invariants/triggers.ts';
import { unhandled } from './invariants/unhandled.ts';
import { usage } from './invariants/usage.ts';
import { waiting } from './invariants/waiting.ts';

export const INVARIANTS: readonly Invariant[] = [
  ...[limit, inForce, rate, oneCall, waiting, liveness, leader, counters],
  ...[onlyOver, stopOnce, budget, modes, overStopped, resumes],
  ...[claimed, fenced, orders, held, retries],
  ...[usage, triggers, alerts, cleanup, memory, unhandled],
  ...[cutWithin, jump, disabled, dated, flags, months, rings],
];
