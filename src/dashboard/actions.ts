// What an operator can change from the screen. Each action has a plan (old and new value, how many cards it affects, the
// command that does the same), and is carried out. Used by model.ts and session.ts.
import type { ApiClient } from '../api/client/client.ts';
import type {
  AlertBody,
  CleanupPreviewBody,
  ConfigBody,
  PauseBody,
  TaskBody,
  TriggerBody,
} from '../api/client/client-bodies.ts';
import { cardCount, enabledWord } from '../cli/output/style.ts';
import type { TaskType } from '../domain/task-type.ts';
import { grouped, measure, relative, seconds } from './format.ts';
import { type ChangePlan, performStopChange, type StopChange, stopPlan } from './stop-changes.ts';

/** What each kind of action is about. */
interface Subjects {
  readonly limit: { readonly task: TaskBody; readonly to: number };
  readonly reset: { readonly task: TaskBody };
  readonly pause: { readonly task: TaskBody; readonly seconds: number };
  readonly resume: {
    readonly task: TaskBody;
    readonly pauses: readonly PauseBody[];
    readonly nowMs: number;
  };
  readonly switch: { readonly config: ConfigBody };
  readonly interval: { readonly config: ConfigBody; readonly to: number };
  readonly cancel: { readonly trigger: TriggerBody };
  readonly poll: { readonly taskType: TaskType; readonly cardId: number };
  readonly cleanup: { readonly preview: CleanupPreviewBody };
  readonly acknowledge: { readonly alert: AlertBody };
  readonly silence: { readonly alert: AlertBody; readonly seconds: number };
  readonly stops: { readonly change: StopChange; readonly reason: string };
}

type Kind = keyof Subjects;
export type Action<K extends Kind = Kind> = { [P in K]: { readonly kind: P } & Subjects[P] }[K];

interface Doing<Subject> {
  readonly plan: (subject: Subject) => ChangePlan;
  /** @returns the result, as one sentence without a full stop. Throws CardpollError. */
  readonly perform: (client: ApiClient, subject: Subject) => Promise<string>;
}

export function planOf<K extends Kind>(action: Action<K>): ChangePlan {
  const { plan }: Doing<Subjects[K]> = ACTIONS[action.kind];
  return plan(action);
}

/** @returns the result, as one sentence without a full stop. Throws CardpollError. */
export function perform<K extends Kind>(client: ApiClient, action: Action<K>): Promise<string> {
  const doing: Doing<Subjects[K]> = ACTIONS[action.kind];
  return doing.perform(client, action);
}

const ACTIONS: { readonly [K in Kind]: Doing<Subjects[K]> } = {
  limit: {
    plan: ({ task: { task_type, concurrency, effective_concurrency, scheduled_cards }, to }) => ({
      title: `Limit of ${task_type}: ${concurrency.max} -> ${to}`,
      effects: [
        `For ${cardCount(scheduled_cards)}, on every instance within a second.`,
        ...(effective_concurrency < concurrency.max
          ? [`The limit in force stays at ${effective_concurrency} while the gateway can handle no more.`]
          : []),
      ],
      command: `cardpoll concurrency set ${task_type} ${to}`,
    }),
    perform: async (client, { task, to }) => {
      const { body } = await client.setConcurrency(task.task_type, to);
      return `limit of ${body.task_type}: ${task.concurrency.max} -> ${body.max_concurrency}`;
    },
  },
  reset: {
    plan: ({ task: { task_type, concurrency } }) => ({
      title: `Running count of ${task_type}: ${concurrency.current} -> 0`,
      effects: [
        `${cardCount(concurrency.current)} may be running: their results are dropped and they are polled again.`,
      ],
      command: `cardpoll concurrency reset ${task_type}`,
    }),
    perform: async (client, { task }) => {
      const { body } = await client.resetConcurrency(task.task_type);
      return `running count of ${body.task_type}: ${body.previous} -> ${body.current}`;
    },
  },
  pause: {
    plan: ({ task: { task_type, scheduled_cards }, seconds: length }) => ({
      title: `Pause ${task_type} for ${seconds(length)}`,
      effects: [
        `${cardCount(scheduled_cards)} are not polled for it meanwhile, manual triggers included.`,
        'Calls in flight end. What falls due waits in the queue.',
      ],
      command: `cardpoll pause ${task_type} --for ${length}s`,
    }),
    perform: async (client, { task: { task_type }, seconds: length }) => {
      await client.pause(task_type, length, '');
      return `${task_type} is paused for ${seconds(length)}`;
    },
  },
  resume: {
    plan: ({ task: { task_type, scheduled_cards }, pauses, nowMs }) => ({
      title: `Resume ${task_type}: paused -> polled`,
      effects: [
        `${cardCount(scheduled_cards)} are polled again, up to the limit.`,
        ...pauses.map(
          ({ by, until, reason }) =>
            `Ends the pause of ${by}, else over ${relative(until, nowMs)}: ${reason || 'no reason given'}`,
        ),
      ],
      command: `cardpoll resume ${task_type}`,
    }),
    perform: async (client, { task: { task_type } }) => {
      const { body } = await client.resume(task_type);
      return body.items.length === 0 ? 'nothing was paused any more' : `${task_type} goes on`;
    },
  },
  switch: {
    plan: ({ config: { id, name, task_type, status, members } }) => {
      const whom = members === null ? 'Its cards' : cardCount(members);
      const on = status === 1;
      return {
        title: `Config ${id} "${name}": ${enabledWord(on)} -> ${enabledWord(!on)}`,
        effects: [`${whom} ${on ? 'are no longer polled' : 'are polled again'} for ${task_type}.`],
        command: `cardpoll configs ${on ? 'disable' : 'enable'} ${id}`,
      };
    },
    perform: async (client, { config: { id, status } }) => {
      const { body } = await client.updateConfig(id, { status: status === 1 ? 0 : 1 });
      return `config ${body.id} is ${enabledWord(body.status === 1)}`;
    },
  },
  interval: {
    plan: ({ config: { id, name, interval_seconds: from, members }, to }) => ({
      title: `Interval of config ${id} "${name}": ${seconds(from)} -> ${seconds(to)}`,
      effects: [
        members === null
          ? 'For its cards.'
          : `For ${cardCount(members)}: ${measure(members / from)}/s -> ${measure(members / to)}/s.`,
      ],
      command: `cardpoll configs set ${id} --interval-seconds ${to}`,
    }),
    perform: async (client, { config: { id, interval_seconds: from }, to }) => {
      const { body } = await client.updateConfig(id, { interval_seconds: to });
      return `interval of config ${body.id}: ${seconds(from)} -> ${seconds(body.interval_seconds)}`;
    },
  },
  cancel: {
    plan: ({ trigger: { trigger_id, status, waiting, running } }) => ({
      title: `Trigger ${trigger_id}: ${status} -> cancelled`,
      effects: [
        `${cardCount(waiting)} will not be polled by it; ${grouped(running)} running ones are finished.`,
      ],
      command: `cardpoll trigger cancel ${trigger_id}`,
    }),
    perform: async (client, { trigger }) => {
      const { body } = await client.cancelTrigger(trigger.trigger_id);
      return `trigger ${body.trigger_id} is ${body.status}`;
    },
  },
  poll: {
    plan: ({ taskType, cardId }) => ({
      title: `Poll card ${cardId} for ${taskType} now`,
      effects: ['1 card, before those of the schedule.'],
      command: `cardpoll trigger single --card-id ${cardId} --task ${taskType}`,
    }),
    perform: async (client, { taskType, cardId }) => {
      const { body } = await client.triggerSingle(taskType, cardId);
      return `trigger ${body.trigger_id} polls card ${cardId} for ${taskType}`;
    },
  },
  cleanup: {
    plan: ({ preview: { items, total_rows } }) => {
      const isEstimated = items.some(({ estimated }) => estimated);
      return {
        title: `Remove ${rowCount(total_rows, isEstimated)} that have expired, for good; no card`,
        effects: items.map(
          ({ target, rows, retention_days, estimated }) =>
            `${target}: ${rowCount(rows, estimated)} older than ${retention_days} days`,
        ),
        command: 'cardpoll cleanup run',
      };
    },
    perform: async (client) => {
      const { body } = await client.triggerCleanup();
      return `cleanup ${body.run_id} has begun`;
    },
  },
  acknowledge: {
    plan: ({ alert: { id, rule_name } }) => ({
      title: `Alert ${id} "${rule_name}": not acknowledged -> acknowledged by you`,
      effects: ['Everyone sees that you handle it. It keeps firing, and its end is still notified.'],
      command: `cardpoll alerts ack ${id}`,
    }),
    perform: async (client, { alert }) => {
      const { body } = await client.acknowledgeAlert(alert.id, '');
      return `alert ${body.id} is acknowledged by ${body.acknowledged_by}`;
    },
  },
  silence: {
    plan: ({ alert: { rule_id, rule_name }, seconds: length }) => ({
      title: `Rule ${rule_id} "${rule_name}": notifies -> silent for ${seconds(length)}`,
      effects: ['Its alerts send no notifications meanwhile; they stay in the history.'],
      command: `cardpoll alerts silence ${rule_id} --for ${length}s`,
    }),
    perform: async (client, { alert: { rule_id }, seconds: length }) => {
      const { body } = await client.createSilence({ rule_id, seconds: length, reason: '' });
      return `rule ${rule_id} is silent for ${seconds(length)}; cardpoll alerts unsilence ${body.id} ends it`;
    },
  },
  stops: {
    plan: ({ change, reason }) => stopPlan(change, reason),
    perform: (client, { change, reason }) => performStopChange(client, change, reason),
  },
};

function rowCount(rows: number, isEstimated: boolean): string {
  return `${isEstimated ? 'about ' : ''}${grouped(rows)} rows`;
}
