// THE table of health reasons: a row for each code with its fixed properties. src/health finds the reasons, and docs/health.md
// and docs/runbook.md have a section for each; a test compares them with this table.

interface Reason {
  /** How bad it can be. */
  readonly severity: 'warning' | 'alert' | 'warning or alert';
  /** Whether it keeps cards from being polled, or is about stops, readings, or the upkeep of the fleet. */
  readonly concerns: 'polls' | 'stops' | 'readings' | 'upkeep';
  /** Customers are cut off, or soon will be: it comes before the others. */
  readonly cutsOff?: true;
  /** An alert rule has its name: if one is enabled, the rule `health` omits the reason. */
  readonly hasRule?: true;
  /** It exists only after the fault has lasted for a minute, so a rule need not wait another minute. */
  readonly isLate?: true;
  /** The view of the dashboard that explains it; absent: the view of its task type. */
  readonly view?: 'stops' | 'instances' | 'configs';
}

const REASONS = {
  queue_backlog: { severity: 'warning or alert', concerns: 'polls' },
  success_rate: { severity: 'warning or alert', concerns: 'polls' },
  avg_duration: { severity: 'warning or alert', concerns: 'polls' },
  concurrency_usage: { severity: 'warning or alert', concerns: 'polls' },
  not_in_force: { severity: 'alert', concerns: 'polls' },
  paused: { severity: 'warning or alert', concerns: 'polls' },
  breaker_open: { severity: 'warning or alert', concerns: 'polls' },
  nothing_polled: { severity: 'alert', concerns: 'polls', view: 'configs' },
  gateway_slow: { severity: 'warning or alert', concerns: 'polls' },
  polls_held: { severity: 'warning', concerns: 'polls' },
  interval_missed: { severity: 'warning or alert', concerns: 'polls' },
  limit_reduced: { severity: 'warning', concerns: 'polls' },
  overloaded: { severity: 'warning', concerns: 'polls' },
  pace_short: { severity: 'warning', concerns: 'polls', view: 'configs' },
  stop_unconfirmed: { severity: 'warning', concerns: 'stops', view: 'stops' },
  over_running: { severity: 'alert', concerns: 'stops', hasRule: true, view: 'stops' },
  stopped_within: { severity: 'warning', concerns: 'stops', view: 'stops' },
  cards_unselected: { severity: 'warning', concerns: 'upkeep', view: 'configs' },
  counters_in_doubt: { severity: 'warning', concerns: 'readings' },
  stop_surge: { severity: 'alert', concerns: 'stops', cutsOff: true, hasRule: true, view: 'stops' },
  stops_held: { severity: 'warning', concerns: 'stops', view: 'stops' },
  usage_jump: { severity: 'alert', concerns: 'readings', cutsOff: true, view: 'stops' },
  implausible_readings: { severity: 'warning or alert', concerns: 'readings', cutsOff: true },
  readings_dead: { severity: 'warning or alert', concerns: 'readings', cutsOff: true },
  own_cpu: { severity: 'warning or alert', concerns: 'polls', view: 'instances' },
  redis_slow: { severity: 'warning or alert', concerns: 'polls', view: 'instances' },
  database_slow: { severity: 'warning or alert', concerns: 'polls', view: 'instances' },
  instance_cut_off: { severity: 'warning', concerns: 'polls', view: 'instances' },
  instance_gone: { severity: 'warning', concerns: 'polls', view: 'instances' },
  carrier_slow: { severity: 'warning or alert', concerns: 'polls' },
  carrier_failing: { severity: 'warning or alert', concerns: 'polls' },
  certificate_expires: { severity: 'warning', concerns: 'upkeep', view: 'instances' },
  no_worker: { severity: 'alert', concerns: 'polls', view: 'instances' },
  no_scheduler: { severity: 'alert', concerns: 'polls', view: 'instances' },
  table_locked: { severity: 'warning or alert', concerns: 'polls' },
  database_outage: { severity: 'warning or alert', concerns: 'polls' },
  init_stuck: { severity: 'alert', concerns: 'polls', isLate: true },
  clocks_differ: { severity: 'warning or alert', concerns: 'polls' },
  instance_clocks_differ: { severity: 'warning', concerns: 'polls', view: 'instances' },
  time_zones_differ: { severity: 'warning', concerns: 'readings', view: 'instances' },
  stop_modes_differ: { severity: 'warning', concerns: 'stops', view: 'stops' },
  reload_failed: { severity: 'warning', concerns: 'upkeep', view: 'instances' },
  logs_not_written: { severity: 'warning', concerns: 'upkeep', view: 'instances' },
  part_failing: { severity: 'alert', concerns: 'upkeep', view: 'instances' },
  put_back: { severity: 'warning', concerns: 'polls' },
} as const satisfies Record<string, Reason>;

export type ReasonCode = keyof typeof REASONS;

export const REASON_CODES = Object.keys(REASONS) as [ReasonCode, ...ReasonCode[]];

const NONE: Partial<Reason> = {};

/** @returns the properties of a reason; empty for an unknown code of an instance of another version. */
export function reasonRow(code: string): Partial<Reason> {
  return (REASONS as Readonly<Record<string, Reason | undefined>>)[code] ?? NONE;
}
