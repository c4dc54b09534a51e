// What a polling config asks of its task type, for `cardpoll configs set, create, enable`: demand against capacity, and
// whether to ask first.
import type { ConfigBody, TaskBody } from '../../../api/client/client-bodies.ts';
import { ask } from '../../ask.ts';
import type { CommandContext } from '../../command.ts';
import { type ConfirmOptions, confirm } from '../../confirm.ts';
import { selectionText } from '../../output/reports/config-tables.ts';
import { cardCount, span } from '../../output/style.ts';
import { isFarOver, rate, roomOf, roomText } from '../limits/room.ts';

type Planned = Pick<
  ConfigBody,
  'name' | 'task_type' | 'card_condition' | 'carrier_id' | 'interval_seconds' | 'status'
>;

interface DemandPlan {
  readonly lines: readonly string[];
  readonly asksFirst: boolean;
}

/** Asks before a config demands far more than its task type can poll. @returns whether to go ahead. */
export async function approved(
  context: CommandContext,
  before: ConfigBody | null,
  after: Planned,
  options: ConfirmOptions,
): Promise<boolean> {
  if (options.yes === true && options.dryRun !== true) return true;
  const { body } = await ask(context, 'reading statistics', (client) => client.tasks());
  const task = body.items.find(({ task_type }) => task_type === after.task_type);
  if (task === undefined) return true;
  const sameCards = before?.carrier_id === after.carrier_id && before.card_condition === after.card_condition;
  const cards = (sameCards ? before.members : null) ?? (await cardsOf(context, after));
  const { lines, asksFirst } = demandPlan(task, before, after, cards);
  return asksFirst || options.dryRun === true ? confirm(context, lines, options) : true;
}

/** All cards of the carrier: how many of them are verified changes with every poll. */
async function cardsOf(context: CommandContext, { carrier_id }: Planned): Promise<number> {
  const selection = { carrier_id, status: null };
  return (await ask(context, 'counting cards', (client) => client.countSelected(selection))).body.matching;
}

/**
 * @param before null: the config is new
 * @param cards that it may poll; a config of higher priority may keep some of them
 */
function demandPlan(task: TaskBody, before: ConfigBody | null, after: Planned, cards: number): DemandPlan {
  const replaced = before?.task_type === task.task_type ? demandOf(before, before.members ?? 0) : 0;
  const demand = Math.max(0, task.demand_per_second - replaced) + demandOf(after, cards);
  const limit = task.effective_concurrency;
  const asksFirst = demand > task.demand_per_second && isFarOver(demand, roomOf(task, limit));
  const what = before === null ? 'Create' : 'Change';
  return {
    lines: [
      `${what} polling config "${after.name}": ${task.task_type}, ${selectionText(after)}, every ${span(after.interval_seconds)}.`,
      `With up to ${cardCount(cards)}, ${task.task_type} needs ${rate(demand)} (now: ${rate(task.demand_per_second)}); ` +
        `${roomText(task, limit)}.`,
      ...(asksFirst ? ['A backlog will grow, and cards will be polled less often than configured.'] : []),
    ],
    asksFirst,
  };
}

function demandOf({ status, interval_seconds }: Pick<Planned, 'status' | 'interval_seconds'>, cards: number) {
  return status === 1 ? cards / interval_seconds : 0;
}
