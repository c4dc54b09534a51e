// How each kind of change is undone. Used by undo.ts. The trail holds no secrets: a rule whose webhook or secret was changed or
// deleted cannot be restored, because its entry lacks the former values.
import { isDeepStrictEqual } from 'node:util';
import type { Actor } from '../domain/audit.ts';
import type { Pausable } from '../domain/limits/operator-limits.ts';
import type { TaskType } from '../domain/task-type.ts';
import { TASK_TYPES } from '../domain/task-type.ts';
import type { Clock } from '../platform/clock.ts';
import { CardpollError } from '../platform/errors.ts';
import { camelKeys, toWire } from '../platform/snake-keys.ts';
import type { NewAlertRule } from '../resources/alerts.ts';
import type { NewConfig } from '../resources/schedule.ts';
import type { AuditRecord } from '../store/ports/records/audit-records.ts';
import { type AlertOperations, alertRuleTrace, alertRuleVersion } from './alerts/alerts.ts';
import { type CleanupOperations, retentionVersion } from './cleanup.ts';
import { type ConcurrencyOperations, limitVersion } from './limits/concurrency.ts';
import type { PauseOperations } from './limits/pauses.ts';
import { VERSION_CHANGED } from './requirements.ts';
import { type ConfigOperations, configVersion } from './schedule/configs.ts';
import type { StopOperations } from './stops/stops.ts';

export interface UndoDeps {
  readonly configs: ConfigOperations;
  readonly concurrency: ConcurrencyOperations;
  readonly alerts: AlertOperations;
  readonly cleanup: CleanupOperations;
  readonly pauses: PauseOperations;
  readonly stops: StopOperations;
  readonly clock: Pick<Clock, 'now'>;
}

interface Undoing {
  /** Only an admin may make such a change. */
  readonly adminOnly: boolean;
  apply(actor: Actor): Promise<unknown>;
  /** It undoes the remaining part of the change, whatever else was changed since. */
  readonly takesWhatIsLeft?: boolean;
  /** For an undo in several changes: whether some of them are still to be made. */
  isPartLeft?(): Promise<boolean>;
}

type Apply = Undoing['apply'];
type Entry = Pick<AuditRecord, 'id' | 'atMs' | 'name' | 'action' | 'object' | 'before' | 'after'>;

/** @throws CardpollError `conflict` for a change that cannot be undone. */
export function undoingOf(means: UndoDeps, entry: Entry): Undoing {
  const { action } = entry;
  switch (action) {
    case 'config.create':
    case 'config.update':
    case 'config.delete':
      return { adminOnly: true, apply: configUndo(means.configs, entry) };
    case 'alert_rule.create':
    case 'alert_rule.update':
    case 'alert_rule.delete':
      return { adminOnly: action === 'alert_rule.create', apply: ruleUndo(means.alerts, entry) };
    case 'concurrency.set':
      return { adminOnly: false, apply: limitUndo(means.concurrency, entry) };
    case 'cleanup_config.update':
      return { adminOnly: true, apply: retentionUndo(means.cleanup, entry) };
    case 'pause.begin':
    case 'pause.end':
      return { adminOnly: false, ...pauseUndo(means, entry) };
    case 'stops.release':
      return { adminOnly: false, takesWhatIsLeft: true, apply: releaseUndo(means.stops, entry) };
    default:
      throw cannot(`a change ${action} cannot be undone by its entry`, OTHER_WAYS[action]);
  }
}

export function cannot(why: string, hint?: string): CardpollError {
  return new CardpollError('conflict', 'not_undoable', why, hint === undefined ? {} : { hint });
}

/** How to undo a change without a former value, or with more than an entry can hold. */
const OTHER_WAYS: Readonly<Record<string, string>> = {
  'cards.import.end': 'import the file of former values that --undo-file wrote',
  'card.stop': '`cardpoll stops resume` takes stops back',
  'stops.order': '`cardpoll stops resume` takes stops back',
  'stops.mode': '`cardpoll stops mode` sets the former mode',
  'maintenance.plan': '`cardpoll maintenance cancel` cancels it',
  'silence.begin': '`cardpoll alerts unsilence` ends it',
  'trigger.create': '`cardpoll trigger cancel` cancels it',
  'stops.resume': '`cardpoll stops runs cancel` cancels it',
};

function configUndo(configs: ConfigOperations, entry: Entry): Apply {
  const id = numberIn(entry);
  const fields = [
    'name',
    'taskType',
    'cardCondition',
    'carrierId',
    'intervalSeconds',
    'priority',
    'status',
  ] as const;
  const configIn = (value: unknown) => valuesIn<NewConfig>(entry, value, fields);
  const version = () => [configVersion({ id, ...configIn(entry.after) })];
  if (entry.action === 'config.create') return (actor) => configs.remove(actor, id, version());
  const former = configIn(entry.before);
  if (entry.action === 'config.delete') return (actor) => configs.create(actor, former);
  return (actor) => configs.update(actor, id, former, version());
}

function limitUndo(concurrency: ConcurrencyOperations, entry: Entry): Apply {
  const taskType = entry.object.slice('task_type '.length) as TaskType;
  const limitIn = (value: unknown) =>
    valuesIn<{ maxConcurrency: number }>(entry, value, ['maxConcurrency']).maxConcurrency;
  const former = limitIn(entry.before);
  const expected = [limitVersion({ taskType, maxConcurrency: limitIn(entry.after) })];
  return (actor) => concurrency.set(actor, taskType, former, expected);
}

/** The clocks of the trail and of the stops may differ by this much. */
const CLOCKS_DIFFER_MS = 60_000;

function releaseUndo(stops: StopOperations, entry: Entry): Apply {
  const { reason } = valuesIn<{ reason: string }>(entry, entry.after, ['reason']);
  const released = { by: entry.name, reason };
  return (actor) => stops.holdAgain(actor, entry.object, released, entry.atMs - CLOCKS_DIFFER_MS);
}

function retentionUndo(cleanup: CleanupOperations, entry: Entry): Apply {
  const id = numberIn(entry);
  const retentionIn = (value: unknown) =>
    valuesIn<{ target: string; retentionDays: number; enabled: boolean }>(entry, value, [
      'retentionDays',
      'enabled',
    ]);
  const { retentionDays, enabled } = retentionIn(entry.before);
  const after = retentionIn(entry.after);
  const expected = [retentionVersion({ id, retentionDays: after.retentionDays, enabled: after.enabled })];
  return (actor) => cleanup.update(actor, id, { retentionDays, enabled }, expected);
}

/** The fields of a rule that an entry holds completely: all except its webhook's URL and its secret. */
const RULE_FIELDS = [
  'name',
  'ruleType',
  'taskType',
  'comparison',
  'threshold',
  'isEnabled',
  'notifyChannels',
  'webhookGrouped',
  'cooldownSeconds',
] as const;

function ruleUndo(alerts: AlertOperations, entry: Entry): Apply {
  const id = numberIn(entry);
  const { action } = entry;
  const after = camelKeys((entry.after ?? {}) as Record<string, unknown>);
  /** The rule after the change, as far as an entry holds it. */
  const version = async () => {
    const rule = await alerts.show(id);
    const left = { ...(entry.after as object) } as Record<string, unknown>;
    for (const name of ['webhook_url_changed', 'webhook_secret_changed', 'undoes']) delete left[name];
    if (isDeepStrictEqual(toWire(alertRuleTrace(rule)), left)) return [alertRuleVersion(rule)];
    throw new CardpollError('conflict', VERSION_CHANGED, 'it is not as the change left it');
  };
  if (action === 'alert_rule.create') return async (actor) => alerts.remove(actor, id, await version());
  const fields = valuesIn<NewAlertRule>(entry, entry.before, RULE_FIELDS);
  const before = camelKeys(entry.before as Record<string, unknown>) as Pick<
    NewAlertRule,
    'webhookUrl' | 'webhookFormat'
  >;
  // The entry has the format in use, which may come from the URL's host.
  const former =
    before.webhookFormat === after.webhookFormat
      ? fields
      : { ...fields, webhookFormat: before.webhookFormat };
  const webhook = 'the trail does not hold a webhook or its secret: set them by hand, then the other fields';
  if (action === 'alert_rule.delete') {
    if (before.webhookUrl !== null)
      throw cannot(webhook, '`cardpoll alerts rules create` makes the rule anew');
    return (actor) => alerts.create(actor, fields);
  }
  if (after.webhookUrlChanged === true || after.webhookSecretChanged === true) {
    throw cannot(webhook, `\`cardpoll alerts rules update ${id} --webhook-url URL\``);
  }
  return async (actor) => alerts.update(actor, id, former, await version());
}

function pauseUndo({ pauses, clock }: UndoDeps, entry: Entry): Pick<Undoing, 'apply' | 'isPartLeft'> {
  const of = entry.object.slice('task_type '.length) as Pausable;
  const types = of === 'all' ? TASK_TYPES : [of];
  const read = async () => {
    const former = formerPauses(entry, clock.now());
    const present = (await pauses.list()).filter(({ taskType }) => types.includes(taskType));
    const ending = present.filter(({ taskType, source }) => source === 'operator' && !former.has(taskType));
    return { former, present, ending };
  };
  const isPartLeft = async () => {
    const { former, present, ending } = await read();
    const paused = present.filter(({ source }) => source === 'operator').map(({ taskType }) => taskType);
    return ending.length > 0 || [...former.keys()].some((taskType) => !paused.includes(taskType));
  };
  const apply: Apply = async (actor) => {
    const { former, present, ending } = await read();
    if (entry.action === 'pause.end' && former.size === 0) {
      throw cannot('the pause that was ended would be over by now, or the gateway had asked for it');
    }
    if (entry.action === 'pause.begin' && !present.some(({ source }) => source === 'operator')) {
      throw cannot('the pause is over by now');
    }
    const ofGateway = present.find(
      ({ taskType, source }) => source === 'gateway' && ending.some((one) => one.taskType === taskType),
    );
    if (ofGateway !== undefined) {
      throw cannot(
        `the gateway has asked for a pause of ${ofGateway.taskType}, too, until ${ofGateway.until.toISOString()}`,
        `\`cardpoll resume ${of}\` ends both`,
      );
    }
    for (const { taskType } of ending) await pauses.resume(actor, taskType);
    for (const [taskType, { seconds, reason }] of former) {
      // A long pause of an earlier version may have had no reason.
      await pauses.pause(actor, { taskType, seconds, reason: reason || `undo of change ${entry.id}` });
    }
  };
  return { apply, isPartLeft };
}

interface FormerPause {
  readonly taskType: TaskType;
  readonly source: string;
  readonly until: string;
  readonly reason: string;
  /** Absent in entries of former versions. */
  readonly maintenanceId?: number | null;
}

/** The operators' pauses that the change ended, with the time that they would still last. */
function formerPauses(entry: Entry, nowMs: number): Map<TaskType, { seconds: number; reason: string }> {
  if (entry.before === null) return new Map();
  const { pauses } = valuesIn<{ pauses: readonly FormerPause[] }>(entry, entry.before, ['pauses']);
  return new Map(
    pauses.flatMap(({ taskType, source, until, reason, maintenanceId = null }) => {
      const seconds = Math.ceil((Date.parse(until) - nowMs) / 1000);
      // A maintenance window lasts by itself.
      return source === 'operator' && maintenanceId === null && seconds > 0
        ? [[taskType, { seconds, reason }] as const]
        : [];
    }),
  );
}

/** @throws CardpollError `conflict` where the entry lacks one of the fields, as entries of other versions may. */
function valuesIn<Values extends object>(
  { id }: Entry,
  value: unknown,
  names: ReadonlyArray<keyof Values & string>,
): Values {
  const values = camelKeys((value ?? {}) as Record<string, unknown>) as Record<string, unknown>;
  const missing = names.filter((name) => !(name in values));
  if (missing.length > 0) throw cannot(`change ${id} does not hold the former values: ${missing.join(', ')}`);
  return Object.fromEntries(names.map((name) => [name, values[name]])) as Values;
}

/** `config 3`: 3. */
function numberIn({ object }: Entry): number {
  return Number(object.split(' ').at(-1));
}
