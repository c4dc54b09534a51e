// What an operator can change from the screen. Each action has a plan (old and new value, how many cards it affects, the
// command that does the same), and this file carries it out. Used by model.ts and session.ts.
import type { ApiClient } from '../api/client/client.ts';
import type {
  AlertBody,
  CleanupPreviewBody,
  ConfigBody,
  PauseBody,
  TaskBody,
  TriggerBody,
} from '../api/client/client-bodies.ts';
import type { TaskType } from '../domain/task-type.ts';
import type { ChangePlan } from './change-plan.ts';
import { cards, grouped, measure, relative, seconds } from './format.ts';
import { performStopChange, type StopChange, stopPlan } from './stop-changes.ts';

export type Action =
  | { readonly kind: 'limit'; readonly task: TaskBody; readonly to: number }
  | { readonly kind: 'reset'; readonly task: TaskBody }
  | { readonly kind: 'pause'; readonly task: TaskBody; readonly seconds: number }
  | {
      readonly kind: 'resume';
      readonly task: TaskBody;
      readonly pauses: readonly PauseBody[];
      readonly nowMs: number;
    }
  | { readonly kind: 'switch'; readonly config: ConfigBody }
  | { readonly kind: 'interval'; readonly config: ConfigBody; readonly to: number }
  | { readonly kind: 'cancel'; readonly trigger: TriggerBody }
  | { readonly kind: 'poll'; readonly taskType: TaskType; readonly cardId: number }
  | { readonly kind: 'cleanup'; readonly preview: CleanupPreviewBody }
  | { readonly kind: 'acknowledge'; readonly alert: AlertBody }
  | { readonly kind: 'silence'; readonly alert: AlertBody; readonly seconds: number }
  | { readonly kind: 'stops'; readonly change: StopChange; readonly reason: string };

export function planOf(action: Action): ChangePlan {
  switch (action.kind) {
    case 'limit':
      return limitPlan(action.task, action.to);
    case 'reset':
      return resetPlan(action.task);
    case 'pause':
      return {
        title: `Pause ${action.task.task_type} for ${seconds(action.seconds)}`,
        effects: [
          `${cards(action.task.scheduled_cards)} are not polled for it meanwhile, manual triggers included.`,
          'Calls in flight end. What falls due waits in the queue.',
        ],
        command: `cardpoll pause ${action.task.task_type} --for ${action.seconds}s`,
      };
    case 'resume':
      return resumePlan(action.task, action.pauses, action.nowMs);
    case 'switch':
      return switchPlan(action.config);
    case 'interval':
      return intervalPlan(action.config, action.to);
    case 'cancel':
      return cancelPlan(action.trigger);
    case 'poll':
      return {
        title: `Poll card ${action.cardId} for ${action.taskType} now`,
        effects: ['1 card, before those of the schedule.'],
        command: `cardpoll trigger single --card-id ${action.cardId} --task ${action.taskType}`,
      };
    case 'cleanup':
      return cleanupPlan(action.preview);
    case 'acknowledge':
      return {
        title: `Alert ${action.alert.id} "${action.alert.rule_name}": not acknowledged -> acknowledged by you`,
        effects: ['Everyone sees that you handle it. It keeps firing, and its end is still notified.'],
        command: `cardpoll alerts ack ${action.alert.id}`,
      };
    case 'silence':
      return {
        title: `Rule ${action.alert.rule_id} "${action.alert.rule_name}": notifies -> silent for ${seconds(action.seconds)}`,
        effects: ['Its alerts send no notifications meanwhile; they stay in the history.'],
        command: `cardpoll alerts silence ${action.alert.rule_id} --for ${action.seconds}s`,
      };
    case 'stops':
      return stopPlan(action.change, action.reason);
  }
}

/** @returns the result, as one sentence without a full stop. Throws CardpollError. */
export async function perform(client: ApiClient, action: Action): Promise<string> {
  switch (action.kind) {
    case 'limit': {
      const { body } = await client.setConcurrency(action.task.task_type, action.to);
      return `limit of ${body.task_type}: ${action.task.concurrency.max} -> ${body.max_concurrency}`;
    }
    case 'reset': {
      const { body } = await client.resetConcurrency(action.task.task_type);
      return `running count of ${body.task_type}: ${body.previous} -> ${body.current}`;
    }
    case 'pause': {
      await client.pause(action.task.task_type, action.seconds, '');
      return `${action.task.task_type} is paused for ${seconds(action.seconds)}`;
    }
    case 'resume': {
      const { body } = await client.resume(action.task.task_type);
      return body.items.length === 0 ? 'nothing was paused any more' : `${action.task.task_type} goes on`;
    }
    case 'switch': {
      const { body } = await client.updateConfig(action.config.id, {
        status: action.config.status === 1 ? 0 : 1,
      });
      return `config ${body.id} is ${statusWord(body.status)}`;
    }
    case 'interval': {
      const { body } = await client.updateConfig(action.config.id, { interval_seconds: action.to });
      return `interval of config ${body.id}: ${seconds(action.config.interval_seconds)} -> ${seconds(body.interval_seconds)}`;
    }
    case 'cancel': {
      const { body } = await client.cancelTrigger(action.trigger.trigger_id);
      return `trigger ${body.trigger_id} is ${body.status}`;
    }
    case 'poll': {
      const { body } = await client.triggerSingle(action.taskType, action.cardId);
      return `trigger ${body.trigger_id} polls card ${action.cardId} for ${action.taskType}`;
    }
    case 'cleanup': {
      const { body } = await client.triggerCleanup();
      return `cleanup ${body.run_id} has begun`;
    }
    case 'acknowledge': {
      const { body } = await client.acknowledgeAlert(action.alert.id, '');
      return `alert ${body.id} is acknowledged by ${body.acknowledged_by}`;
    }
    case 'silence': {
      const { rule_id } = action.alert;
      const { body } = await client.createSilence({ rule_id, seconds: action.seconds, reason: '' });
      return `rule ${rule_id} is silent for ${seconds(action.seconds)}; cardpoll alerts unsilence ${body.id} ends it`;
    }
    case 'stops':
      return performStopChange(client, action.change, action.reason);
  }
}

function statusWord(status: number): string {
  return status === 1 ? 'enabled' : 'disabled';
}

function limitPlan(
  { task_type, concurrency, effective_concurrency, scheduled_cards }: TaskBody,
  to: number,
): ChangePlan {
  const reduced =
    effective_concurrency < concurrency.max
      ? [`In force are ${effective_concurrency}: the gateway takes no more.`]
      : [];
  return {
    title: `Limit of ${task_type}: ${concurrency.max} -> ${to}`,
    effects: [`For ${cards(scheduled_cards)}, on every instance within a second.`, ...reduced],
    command: `cardpoll concurrency set ${task_type} ${to}`,
  };
}

function resetPlan({ task_type, concurrency }: TaskBody): ChangePlan {
  return {
    title: `Running count of ${task_type}: ${concurrency.current} -> 0`,
    effects: [
      `${cards(concurrency.current)} may be running: their results are dropped and they are polled again.`,
    ],
    command: `cardpoll concurrency reset ${task_type}`,
  };
}

function resumePlan(
  { task_type, scheduled_cards }: TaskBody,
  pauses: readonly PauseBody[],
  nowMs: number,
): ChangePlan {
  return {
    title: `Resume ${task_type}: paused -> polled`,
    effects: [
      `${cards(scheduled_cards)} are polled again, up to the limit.`,
      ...pauses.map(
        ({ by, until, reason }) =>
          `Ends the pause of ${by}, else over ${relative(until, nowMs)}: ${reason || 'no reason given'}`,
      ),
    ],
    command: `cardpoll resume ${task_type}`,
  };
}

function switchPlan({ id, name, task_type, status, members }: ConfigBody): ChangePlan {
  const whom = members === null ? 'Its cards' : cards(members);
  const on = status === 1;
  return {
    title: `Config ${id} "${name}": ${statusWord(status)} -> ${statusWord(on ? 0 : 1)}`,
    effects: [`${whom} ${on ? 'are no longer polled' : 'are polled again'} for ${task_type}.`],
    command: `cardpoll configs ${on ? 'disable' : 'enable'} ${id}`,
  };
}

function intervalPlan({ id, name, interval_seconds: from, members }: ConfigBody, to: number): ChangePlan {
  const effects =
    members === null
      ? ['For its cards.']
      : [`For ${cards(members)}: ${measure(members / from)}/s -> ${measure(members / to)}/s.`];
  return {
    title: `Interval of config ${id} "${name}": ${seconds(from)} -> ${seconds(to)}`,
    effects,
    command: `cardpoll configs set ${id} --interval-seconds ${to}`,
  };
}

function cancelPlan({ trigger_id, status, waiting, running }: TriggerBody): ChangePlan {
  return {
    title: `Trigger ${trigger_id}: ${status} -> cancelled`,
    effects: [`${cards(waiting)} will not be polled by it; ${grouped(running)} running ones are finished.`],
    command: `cardpoll trigger cancel ${trigger_id}`,
  };
}

function cleanupPlan({ items, total_rows }: CleanupPreviewBody): ChangePlan {
  const rows = (n: number, estimated: boolean) => `${estimated ? 'about ' : ''}${grouped(n)} rows`;
  return {
    title: `Remove ${rows(
      total_rows,
      items.some(({ estimated }) => estimated),
    )} that have expired, for good; no card`,
    effects: items.map(
      ({ target, rows: n, retention_days, estimated }) =>
        `${target}: ${rows(n, estimated)} older than ${retention_days} days`,
    ),
    command: 'cardpoll cleanup run',
  };
}
