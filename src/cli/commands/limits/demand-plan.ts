// Asks before a change demands far more polls than are possible, or sends the gateway far more calls: a new limit, and a polling
// config that is created, changed or enabled. Compares demand and capacity.
import { ASSUMED_MS, BACKLOG, isFarOver, perSecondAt, pollRate, roomText } from '../../../changes/demand.ts';
import { limitChange, starves } from '../../../changes/limits.ts';
import { planLines } from '../../../changes/planned-change.ts';
import { DEFAULT_MAX_CONCURRENCY } from '../../../domain/limits/operator-limits.ts';
import type { TaskType } from '../../../domain/task-type.ts';
import { cardCount, grouped, span } from '../../../domain/words.ts';
import { CardpollError } from '../../../platform/errors.ts';
import type { ConfigBody } from '../../../resources/schedule.ts';
import type { TaskBody } from '../../../resources/stats.ts';
import { selectionText } from '../../../terminal/reports/config-tables.ts';
import { ask } from '../../ask.ts';
import type { CommandContext } from '../../command.ts';
import { type ConfirmOptions, confirmIf } from '../../confirm.ts';
import { everyItem } from '../../named.ts';

/** A limit that is raised by more than this factor sends the gateway more calls than it has proven to handle. */
const MOST_TIMES_RAISED = 10;

/** The effects of a change, and whether it needs a confirmation. */
export interface DemandPlan {
  readonly isDrastic: boolean;
  readonly lines: readonly string[];
}

/** @throws CardpollError kind `not_found`: without the numbers of the task type it is unknown how drastic a change is. */
export async function measuredTask(context: CommandContext, taskType: TaskType): Promise<TaskBody> {
  const { body } = await ask(context, 'reading statistics', (client) => client.tasks());
  const task = body.items.find(({ task_type }) => task_type === taskType);
  if (task !== undefined) return task;
  const message = `the daemon does not report the task type ${taskType}`;
  throw new CardpollError('not_found', 'task_type_not_reported', message, {
    hint: 'it may have another version: cardpoll version',
  });
}

/** Shows demand against capacity under the new limit. */
export async function confirmLimit(
  context: CommandContext,
  task: TaskBody,
  limit: number,
  options: ConfirmOptions,
): Promise<void> {
  if (options.yes === true && options.dryRun !== true) return;
  const { isDrastic, lines } = await limitPlan(context, task, limit);
  return confirmIf(isDrastic, context, lines, options);
}

export async function limitPlan(context: CommandContext, task: TaskBody, limit: number): Promise<DemandPlan> {
  const { task_type, demand_per_second: demand, concurrency } = task;
  const isNeeded = demand >= perSecondAt(task, limit) / 2;
  const former = (await valuesOfAnHourAgo(context, 'concurrency.set')).get(`task_type ${task_type}`);
  const lowest = Math.min(concurrency.max, Number(former?.max_concurrency ?? concurrency.max));
  const floods = limit > MOST_TIMES_RAISED * Math.max(lowest, DEFAULT_MAX_CONCURRENCY) && !isNeeded;
  const lines = [
    ...planLines(limitChange(task, limit)),
    ...(floods ? [`The gateway may get ${grouped(limit)} calls at a time.`] : []),
  ];
  return { isDrastic: starves(task, limit) || floods, lines };
}

/**
 * The values of an hour ago of everything that was changed since, because several small steps are one large one. By object, as
 * the audit trail names it; a new object has no values.
 */
async function valuesOfAnHourAgo(context: CommandContext, action: string): Promise<Map<string, Values>> {
  const since = new Date(context.io.clock.now() - 3_600_000).toISOString();
  const changes = await ask(context, 'reading the audit trail', (client) =>
    everyItem((page, pageSize) => client.audit({ since, action }, page, pageSize)),
  );
  // The newest is first, so that the oldest of each object stays.
  return new Map(changes.flatMap(({ object, before }) => (before ? [[object, before as Values]] : [])));
}

type Values = Readonly<Record<string, unknown>>;

function intervalIn(former: Values | undefined): { interval_seconds?: number } {
  return typeof former?.interval_seconds === 'number' ? { interval_seconds: former.interval_seconds } : {};
}

type Planned = Pick<
  ConfigBody,
  'name' | 'task_type' | 'card_condition' | 'carrier_id' | 'interval_seconds' | 'status'
>;

/** The capacity of the default limit. Up to that, a change is not drastic, however many times it multiplies the polls. */
const USUAL_PER_SECOND = (DEFAULT_MAX_CONCURRENCY * 1000) / ASSUMED_MS;

/** @param before null: a new config. */
export async function confirmConfig(
  context: CommandContext,
  before: ConfigBody | null,
  after: Planned,
  options: ConfirmOptions,
): Promise<void> {
  if (options.yes === true && options.dryRun !== true) return;
  const { isDrastic, lines } = await configPlan(context, before, after);
  return confirmIf(isDrastic, context, lines, options);
}

/**
 * The demand of the config, with all others of its task type. Computed from the configs, not from the statistics: those know only
 * rings that are built, and intervals that the daemon has seen, so a second step soon after the first would look like no change.
 * @param before null: a new config.
 */
export async function configPlan(
  context: CommandContext,
  before: ConfigBody | null,
  after: Planned,
): Promise<DemandPlan> {
  const task = await measuredTask(context, after.task_type);
  const all = await ask(context, 'reading polling configs', (client) =>
    everyItem((page, pageSize) => client.configs(page, pageSize)),
  );
  const ofType = all.filter((config) => config.task_type === after.task_type && config.status === 1);
  const former = await valuesOfAnHourAgo(context, 'config');
  let now = 0;
  let anHourAgo = 0;
  let others = 0;
  for (const config of ofType) {
    const cards = config.members ?? (await countCards(context, config));
    const demand = demandOf(config, cards);
    now += demand;
    anHourAgo += demandOf({ ...config, ...intervalIn(former.get(`config ${config.id}`)) }, cards);
    if (config.id !== before?.id) others += demand;
  }
  const sameCards =
    before?.status === 1 &&
    before.task_type === after.task_type &&
    before.carrier_id === after.carrier_id &&
    before.card_condition === after.card_condition;
  // Upper bound of its cards. A config of higher priority may keep some of them.
  const cards = (sameCards ? before.members : null) ?? (await countCards(context, after));
  const demand = others + demandOf(after, cards);
  const limit = task.effective_concurrency;
  const isStarving = demand > now && isFarOver(demand, task, limit);
  const isFaster = before?.status === 1 && after.interval_seconds < before.interval_seconds;
  const floods =
    isFaster && demand > MOST_TIMES_RAISED * Math.min(now, anHourAgo) && demand > USUAL_PER_SECOND;
  const what = before === null ? 'Create' : 'Change';
  const lines = [
    `${what} polling config "${after.name}": ${task.task_type}, ${selectionText(after)}, every ${span(after.interval_seconds)}.`,
    `With up to ${cardCount(cards)}, ${task.task_type} needs ${pollRate(demand)} (now: ${pollRate(now)}); ` +
      `${roomText(task, limit)}.`,
    ...(isStarving ? [BACKLOG] : []),
    ...(floods && !isStarving
      ? [`The gateway gets more than ${MOST_TIMES_RAISED} times the calls of an hour ago.`]
      : []),
  ];
  return { isDrastic: isStarving || floods, lines };
}

/** All cards of the carrier, because the number of verified ones changes with every poll. */
async function countCards(
  context: CommandContext,
  { carrier_id }: Pick<Planned, 'carrier_id'>,
): Promise<number> {
  const selection = { carrier_id, status: null };
  return (await ask(context, 'counting cards', (client) => client.countSelected(selection))).body.matching;
}

function demandOf({ status, interval_seconds }: Pick<Planned, 'status' | 'interval_seconds'>, cards: number) {
  return status === 1 ? cards / interval_seconds : 0;
}
