// Polling configs: read, create, change and remove, and describe their problems for the operator. Used by the admin API. Running
// daemons watch the records and apply a change within half a second; nothing is sent to them.
//
// A card that several configs match is polled by the config with the highest priority, then the lowest id. Removing or disabling
// the last config of a task type is allowed: then no card is polled for that type.
import type { Actor } from '../../domain/audit.ts';
import { notOfferedWords } from '../../domain/gateway-interface.ts';
import { leastIntervalSeconds, type RateLimit } from '../../domain/limits/rate-limit.ts';
import { RECORD_ID_BOUNDS } from '../../domain/page.ts';
import {
  ConfigMatcher,
  INTERVAL_SECONDS_BOUNDS,
  type PollingConfig,
} from '../../domain/schedule/polling-config.ts';
import { achievedIntervalMsOf } from '../../domain/schedule/schedule-pace.ts';
import { presentMetricsOf } from '../../domain/stats/task-metrics.ts';
import { askPerTaskType, perTaskType, TASKS, type TaskType } from '../../domain/task-type.ts';
import { grouped } from '../../domain/words.ts';
import { CardpollError, nullIfUnavailable } from '../../platform/errors.ts';
import type { ConfigReport, NewConfig } from '../../resources/schedule.ts';
import { waitMsOf } from '../../store/ports/live/fleet-reading.ts';
import type { RingState } from '../../store/ports/live/rings.ts';
import type { OperationDeps } from '../deps.ts';
import {
  type ExpectedVersion,
  isWithin,
  requireVersion,
  versionOf,
  wholeNumberWithin,
} from '../requirements.ts';

export type ConfigPatch = Partial<NewConfig>;

type ConfigDeps = Pick<OperationDeps, 'records' | 'live' | 'audit' | 'rateLimits' | 'offers'>;

interface Schedule {
  readonly rings: readonly RingState[];
  /** By the live store's clock, which dates the rings. */
  readonly nowMs: number;
  /** How long a card that comes due waits; null: no cards are polled. */
  readonly waitMs: Readonly<Record<TaskType, number | null>>;
  /** Polls a second that the limit in force allows; null: unknown, because no poll of the last seconds succeeded. */
  readonly perSecond: Readonly<Record<TaskType, number | null>>;
}

export class ConfigOperations {
  constructor(private readonly deps: ConfigDeps) {}

  /** @returns the configs in order of id. */
  async list(): Promise<ConfigReport[]> {
    const [configs, schedule] = await Promise.all([this.deps.records.configs.list(), this.#schedule()]);
    const sorted = [...configs].sort((a, b) => a.id - b.id);
    return sorted.map((config) => this.#report(config, sorted, schedule));
  }

  /** @throws CardpollError `not_found` for an unknown id. */
  async show(id: number): Promise<ConfigReport> {
    const found = (await this.list()).find((config) => config.id === id);
    if (found === undefined) throw unknown(id);
    return found;
  }

  /** @throws CardpollError `invalid` for an interval that the gateway does not allow. */
  async create(actor: Actor, config: NewConfig): Promise<ConfigReport> {
    this.#requireAllowed(config);
    const created = await this.deps.audit.change(actor, async ({ configs }, note) => {
      const after = await configs.create(config);
      note({ action: 'config.create', object: objectOf(after.id), before: null, after });
      return after;
    });
    return this.#reportOf(created);
  }

  /**
   * @throws CardpollError `not_found`; `invalid` as for a new config; `conflict` for an unexpected version.
   */
  async update(
    actor: Actor,
    id: number,
    patch: ConfigPatch,
    expected: ExpectedVersion,
  ): Promise<ConfigReport> {
    const updated = await this.deps.audit.change(actor, async ({ configs }, note) => {
      const before = (await configs.list()).find((config) => config.id === id);
      if (before === undefined) throw unknown(id);
      requireVersion(configVersion(before), expected);
      // A config that was already too frequent may still be renamed or disabled.
      if (patch.intervalSeconds !== undefined || patch.taskType !== undefined) {
        this.#requireAllowed({ ...before, ...patch });
      }
      const after = await configs.update(id, patch);
      if (after === null) throw unknown(id);
      note({ action: 'config.update', object: objectOf(id), before, after });
      return after;
    });
    return this.#reportOf(updated);
  }

  /**
   * The next config that matches polls its cards. @returns the removed config. @throws CardpollError `not_found`; `conflict` for
   * an unexpected version.
   */
  async remove(actor: Actor, id: number, expected: ExpectedVersion = null): Promise<ConfigReport> {
    const removed = await this.deps.audit.change(actor, async ({ configs }, note) => {
      const before = isWithin(RECORD_ID_BOUNDS, id) ? await configs.remove(id) : null;
      if (before === null) throw unknown(id);
      requireVersion(configVersion(before), expected);
      note({ action: 'config.delete', object: objectOf(id), before, after: null });
      return before;
    });
    return this.#reportOf(removed);
  }

  /** The gateway limits how often one card may be polled. */
  #requireAllowed({ taskType, intervalSeconds }: NewConfig): void {
    const problem = tooFrequent(taskType, intervalSeconds, this.deps.rateLimits);
    if (problem === null) return;
    throw new CardpollError('invalid', 'invalid_field', 'a value is out of bounds', {
      fields: [{ field: 'intervalSeconds', message: problem }],
    });
  }

  async #reportOf(config: PollingConfig): Promise<ConfigReport> {
    const [configs, schedule] = await Promise.all([this.deps.records.configs.list(), this.#schedule()]);
    return this.#report(config, configs, schedule);
  }

  #report(config: PollingConfig, all: readonly PollingConfig[], schedule: Schedule | null): ConfigReport {
    const ring = schedule?.rings.find(
      (one) => one.configId === config.id && one.taskType === config.taskType,
    );
    const waitMs = schedule?.waitMs[config.taskType] ?? null;
    const achievedMs =
      schedule === null || ring === undefined || waitMs === null
        ? null
        : achievedIntervalMsOf(ring, schedule.nowMs, waitMs);
    // A new ring, or one that is being rebuilt, holds only a part of its cards, so their number is still unknown.
    const members = ring?.loaded === true && ring.building === null ? ring.members : null;
    return {
      ...config,
      members,
      achievedIntervalSeconds: achievedMs === null ? null : Math.round(achievedMs / 100) / 10,
      skippedRevolutions: schedule === null ? null : (ring?.skippedRevolutions ?? 0),
      problems: [
        ...problemsOf(config, {
          all,
          members,
          rateLimits: this.deps.rateLimits,
          offers: this.deps.offers,
        }),
        ...demandProblems(config, all, schedule),
      ],
    };
  }

  /** @returns null while the live store is unavailable: configs stay readable and changeable then. */
  #schedule(): Promise<Schedule | null> {
    const { live } = this.deps;
    const pace = askPerTaskType(async (taskType) => {
      const [counts, stats] = await Promise.all([live.work.counts(taskType), live.stats.read(taskType)]);
      const { callMs } = presentMetricsOf(stats.now);
      const perSecond = callMs === null ? null : (1000 * counts.effectiveConcurrency) / Math.max(1, callMs);
      return { waitMs: waitMsOf(counts, stats), perSecond };
    });
    return nullIfUnavailable(Promise.all([live.rings.list(), live.now(), pace])).then(
      (read) =>
        read && {
          rings: read[0],
          nowMs: read[1],
          waitMs: perTaskType((taskType) => read[2][taskType].waitMs),
          perSecond: perTaskType((taskType) => read[2][taskType].perSecond),
        },
    );
  }
}

/** The version covers the changeable fields, not the results of polling. */
export function configVersion(config: PollingConfig): string {
  const { id, name, taskType, cardCondition, carrierId, intervalSeconds, priority, status } = config;
  return versionOf([id, name, taskType, cardCondition, carrierId, intervalSeconds, priority, status]);
}

function objectOf(id: number): string {
  return `config ${id}`;
}

function unknown(id: number): CardpollError {
  return new CardpollError('not_found', 'config_not_found', `there is no polling config ${id}`, {
    hint: '`cardpoll configs list` shows the ids',
  });
}

interface ConfigSurroundings extends Pick<OperationDeps, 'rateLimits' | 'offers'> {
  readonly all: readonly PollingConfig[];
  /** Number of members of the config's ring; null if unknown (so far). */
  readonly members: number | null;
}

/** Only describes problems and refuses nothing: configs may be created step by step, and with plain SQL. */
export function problemsOf(
  config: PollingConfig,
  { all, members, rateLimits, offers }: ConfigSurroundings,
): string[] {
  const problems: string[] = [];
  const needed = TASKS[config.taskType].interface;
  if (!offers(needed)) problems.push(notOfferedWords(needed));
  const covering = coveringConfigs(config, all);
  if (covering.length > 0) {
    problems.push(`every card it matches is polled by config ${covering.map(({ id }) => id).join(' and ')}`);
  } else if (members === 0) problems.push('no card matches it');
  const { intervalSeconds } = config;
  if (!isWithin(INTERVAL_SECONDS_BOUNDS, intervalSeconds)) {
    problems.push(`interval_seconds ${wholeNumberWithin(INTERVAL_SECONDS_BOUNDS)}`);
  }
  const frequent = tooFrequent(config.taskType, intervalSeconds, rateLimits);
  if (frequent !== null) problems.push(`interval_seconds ${frequent}`);
  if (!all.some((other) => other.taskType === config.taskType && other.status === 1)) {
    problems.push(`no enabled config polls ${config.taskType}`);
  }
  return problems;
}

/** Up to this multiple of the limit's capacity, the measurement may be wrong. The command line asks above the same multiple. */
const FAR_OVER = 2;

/**
 * Warns, for the configs with the highest demand, that their task type needs far more polls than are possible; also in the answer
 * to a change.
 */
function demandProblems(
  config: PollingConfig,
  all: readonly PollingConfig[],
  schedule: Schedule | null,
): string[] {
  const perSecond = schedule?.perSecond[config.taskType] ?? null;
  if (schedule === null || perSecond === null || config.status === 0) return [];
  const demandOf = ({ id, taskType, intervalSeconds }: PollingConfig) =>
    (schedule.rings.find((ring) => ring.configId === id && ring.taskType === taskType)?.members ?? 0) /
    intervalSeconds;
  const enabled = all.filter(({ taskType, status }) => taskType === config.taskType && status === 1);
  const demand = enabled.reduce((sum, one) => sum + demandOf(one), 0);
  if (demand <= FAR_OVER * perSecond || demandOf(config) < demand / enabled.length) return [];
  const [need, room] = [demand, perSecond].map((rate) => grouped(Math.round(rate)));
  return [
    `the configs of ${config.taskType} need ${need} polls a second, and its limit allows about ${room}: a backlog grows`,
  ];
}

/** @returns why the gateway does not allow this interval; null when it does. */
export function tooFrequent(
  taskType: TaskType,
  intervalSeconds: number,
  rateLimits: readonly RateLimit[],
): string | null {
  const { interface: interfaceName } = TASKS[taskType];
  const least = leastIntervalSeconds(rateLimits, interfaceName);
  if (intervalSeconds >= least) return null;
  return `must be at least ${least}: gateway.rate_limits allows one poll of a card by ${interfaceName} every ${least} s`;
}

/** @returns configs that win over this one and together take all its cards; empty when some cards are left for it. */
function coveringConfigs(config: PollingConfig, all: readonly PollingConfig[]): PollingConfig[] {
  const winners = new ConfigMatcher(all)
    .winnersOver(config)
    .filter(({ carrierId }) => carrierId === null || carrierId === config.carrierId);
  const covering = new Set<PollingConfig>();
  for (const condition of ['not_verified', 'verified'] as const) {
    if (config.cardCondition !== 'any' && config.cardCondition !== condition) continue;
    const winner = winners.find(
      ({ cardCondition }) => cardCondition === 'any' || cardCondition === condition,
    );
    if (winner === undefined) return [];
    covering.add(winner);
  }
  return [...covering];
}
