// A task type and a fleet in which all is well, as the judge sees them, and the reasons that follow from other facts.
import type { TaskType } from '../../src/domain/task-type.ts';
import { fleetReasons, type TaskHealthInputs, taskReasons } from '../../src/health/health-reasons.ts';
import type { HealthReason } from '../../src/health/reason.ts';
import { inOrder } from '../../src/health/reason-order.ts';
import type { InstanceInfo } from '../../src/store/ports/live/coordination.ts';
import { instanceOf } from './polled-fleet.ts';
import { CALM_STOPS } from './stop-figures.ts';

const KEEP: TaskHealthInputs['advice'] = {
  verdict: 'keep',
  maxConcurrency: 100,
  recommended: { min: 100, max: 200 },
  remedy: null,
  why: '',
};
/** More comes due than is polled. */
export const SHORT = { ...KEEP, remedy: 'poll realname 1.8 times less often' };

export const READINGS: TaskHealthInputs['readings'] = {
  total: 2_000,
  seconds: 300,
  implausible: 0,
  counters: 0,
  fallen: 0,
  stillMinutes: null,
  stopMode: 'enforce',
};

const FINE: TaskHealthInputs = {
  taskType: 'realname',
  queueLength: 10,
  successRate: 99,
  avgDurationMs: 50,
  concurrencyPercent: 60,
  due: 10,
  waitedMs: 10_000,
  inFlight: 5,
  recentPolls: 100,
  maxConcurrency: 100,
  effectiveConcurrency: 100,
  inForce: true,
  limit: null,
  slowness: null,
  slowCarriers: [],
  durations: {},
  demandPerSecond: 10,
  paceShare: null,
  intervalSeconds: 60,
  achievedIntervalSeconds: 60,
  stops: CALM_STOPS,
  readings: READINGS,
  polls: 0,
  held: 0,
  judgedSeconds: 300,
  present: { successRate: null, seconds: 20 },
  failedBy: {},
  outlyingCarriers: [],
  drainSeconds: 0,
  advice: KEEP,
  pauses: [],
  nowMs: 0,
  starting: false,
  breakers: [],
  followUps: [],
  cutOff: new Map(),
  since: new Map(),
};

export const PAUSE = {
  id: null,
  sinceMs: 0,
  source: 'operator' as const,
  by: 'operator/0',
  reason: 'maintenance',
  untilMs: 59_500,
};

export const BREAKER = {
  interface: 'realname',
  breaker: 'open' as const,
  reason: '20 calls in a row failed',
  instances: 2,
  since: null,
};

type FleetFacts = Omit<Parameters<typeof fleetReasons>[0], 'tasks'>;

const CALM: FleetFacts = {
  instances: [instanceOf('a')],
  silence: null,
  initStuck: false,
  lockHolders: [],
  locked: [],
  stops: null,
  clockGap: null,
  pauses: [],
  since: new Map(),
  nowMs: 0,
};

const UNCHANGED = { nowMs: 0, changeOf: () => null };

/** The reasons of one task type. */
export function ofTask(facts: Partial<TaskHealthInputs>): HealthReason[] {
  return inOrder(taskReasons({ ...FINE, ...facts }), UNCHANGED);
}

/** The reasons of a fleet of these task types and other facts. */
export function ofFleet(facts: Partial<FleetFacts>, ...types: Partial<TaskHealthInputs>[]): HealthReason[] {
  const tasks = types.map(({ taskType = 'realname' as TaskType, ...own }) => ({
    taskType,
    reasons: taskReasons({ ...FINE, taskType, ...own }),
  }));
  const pauses = types.flatMap((own) => own.pauses ?? []);
  return inOrder(fleetReasons({ ...CALM, pauses, ...facts, tasks }), UNCHANGED);
}

/** The reasons of a fleet of these instances. */
export const ofInstances = (...instances: readonly InstanceInfo[]) => ofFleet({ instances });

/** Code, severity and numbers of a reason, not its words: `gateway_slow alert 3.0 0.02`. */
export function inNumbers({ code, severity, text }: Record<'code' | 'severity' | 'text', string>): string {
  return [code, severity, ...(text.match(/(?<![\w.])\d+(,\d{3})*(\.\d+)?/g) ?? [])].join(' ');
}
