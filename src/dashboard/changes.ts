// What an operator can change from the screen. Each change says what it does (old and new value, how many cards it affects,
// the command that does the same), and is carried out when it is confirmed. Where a change is not possible, a sentence says
// why. Used by model.ts and questions.ts.
import type { ApiClient } from '../api/client/client.ts';
import type {
  AlertBody,
  CleanupPreviewBody,
  ConfigBody,
  OverviewBody,
  PauseBody,
  TaskBody,
  TriggerBody,
} from '../api/client/client-bodies.ts';
import type { TaskType } from '../domain/task-type.ts';
import { cardCount, enabledWord } from '../terminal/style.ts';
import { counted, grouped, measure, relative, seconds } from './format.ts';

/** What an operator is shown before a change is made, and what makes it. */
export interface PlannedChange {
  readonly title: string;
  /** Which cards it affects, and the consequences. */
  readonly effects: readonly string[];
  /** The command that does the same. */
  readonly command: string;
  /** @returns the result, as one sentence without a full stop. Throws CardpollError. */
  readonly perform: (client: ApiClient) => Promise<string>;
}

export function limitChange(task: TaskBody, to: number): PlannedChange {
  const { task_type, concurrency, effective_concurrency, scheduled_cards } = task;
  return {
    title: `Limit of ${task_type}: ${concurrency.max} -> ${to}`,
    effects: [
      `For ${cardCount(scheduled_cards)}, on every instance within a second.`,
      ...(effective_concurrency < Math.min(concurrency.max, to)
        ? [`The limit in force stays at ${effective_concurrency} while the gateway can handle no more.`]
        : []),
    ],
    command: `cardpoll concurrency set ${task_type} ${to}`,
    perform: async (client) => {
      const { body } = await client.setConcurrency(task_type, to);
      return `limit of ${body.task_type}: ${concurrency.max} -> ${body.max_concurrency}`;
    },
  };
}

export function resetChange({ task_type, concurrency }: TaskBody): PlannedChange {
  return {
    title: `Running count of ${task_type}: ${concurrency.current} -> 0`,
    effects: [
      `${cardCount(concurrency.current)} may be running: their results are dropped and they are polled again.`,
    ],
    command: `cardpoll concurrency reset ${task_type}`,
    perform: async (client) => {
      const { body } = await client.resetConcurrency(task_type);
      return `running count of ${body.task_type}: ${body.previous} -> ${body.current}`;
    },
  };
}

export function pauseChange(
  { task_type, scheduled_cards }: TaskBody,
  { pauses, generated_at }: OverviewBody,
  length: number,
): PlannedChange {
  // An operator's pause replaces an operator's, who may count on it.
  const replaced = pauses.filter((pause) => pause.task_type === task_type && pause.source === 'operator');
  return {
    title: `Pause ${task_type} for ${seconds(length)}`,
    effects: [
      `${cardCount(scheduled_cards)} are not polled for it meanwhile, manual triggers included.`,
      'Calls in flight end. What falls due waits in the queue.',
      ...replaced.map((pause) => `Replaces the ${pauseWords(pause, Date.parse(generated_at))}`),
    ],
    command: `cardpoll pause ${task_type} --for ${length}s`,
    perform: async (client) => {
      await client.pause(task_type, length, '');
      return `${task_type} is paused for ${seconds(length)}`;
    },
  };
}

export function resumeChange(
  { task_type, scheduled_cards }: TaskBody,
  { pauses, generated_at }: OverviewBody,
): PlannedChange | string {
  const own = pauses.filter((pause) => pause.task_type === task_type);
  if (own.length === 0) return `${task_type} is not paused`;
  const nowMs = Date.parse(generated_at);
  return {
    title: `Resume ${task_type}: paused -> polled`,
    effects: [
      `${cardCount(scheduled_cards)} are polled again, up to the limit.`,
      ...own.map((pause) => `Ends the ${pauseWords(pause, nowMs)}`),
    ],
    command: `cardpoll resume ${task_type}`,
    perform: async (client) => {
      const { body } = await client.resume(task_type);
      return body.items.length === 0 ? 'nothing was paused any more' : `${task_type} goes on`;
    },
  };
}

function pauseWords({ by, until, reason }: PauseBody, nowMs: number): string {
  return `pause of ${by}, else over ${relative(until, nowMs)}: ${reason || 'no reason given'}`;
}

/** Enables a disabled config, and disables an enabled one. */
export function switchChange({ id, name, task_type, status, members }: ConfigBody): PlannedChange {
  const whom = members === null ? 'Its cards' : cardCount(members);
  const on = status === 1;
  return {
    title: `Config ${id} "${name}": ${enabledWord(on)} -> ${enabledWord(!on)}`,
    effects: [`${whom} ${on ? 'are no longer polled' : 'are polled again'} for ${task_type}.`],
    command: `cardpoll configs ${on ? 'disable' : 'enable'} ${id}`,
    perform: async (client) => {
      const { body } = await client.updateConfig(id, { status: on ? 0 : 1 });
      return `config ${body.id} is ${enabledWord(body.status === 1)}`;
    },
  };
}

export function intervalChange(
  { id, name, interval_seconds: from, members }: ConfigBody,
  to: number,
): PlannedChange {
  return {
    title: `Interval of config ${id} "${name}": ${seconds(from)} -> ${seconds(to)}`,
    effects: [
      members === null
        ? 'For its cards.'
        : `For ${cardCount(members)}: ${measure(members / from)}/s -> ${measure(members / to)}/s.`,
    ],
    command: `cardpoll configs set ${id} --interval-seconds ${to}`,
    perform: async (client) => {
      const { body } = await client.updateConfig(id, { interval_seconds: to });
      return `interval of config ${body.id}: ${seconds(from)} -> ${seconds(body.interval_seconds)}`;
    },
  };
}

export function cancelChange({ trigger_id, status, waiting, running }: TriggerBody): PlannedChange | string {
  if (status === 'completed' || status === 'cancelled') return `trigger ${trigger_id} has already ended`;
  return {
    title: `Trigger ${trigger_id}: ${status} -> cancelled`,
    effects: [
      `${cardCount(waiting)} will not be polled by it; ${grouped(running)} running ones are finished.`,
    ],
    command: `cardpoll trigger cancel ${trigger_id}`,
    perform: async (client) => {
      const { body } = await client.cancelTrigger(trigger_id);
      return `trigger ${body.trigger_id} is ${body.status}`;
    },
  };
}

export function pollChange(taskType: TaskType, cardId: number): PlannedChange {
  return {
    title: `Poll card ${cardId} for ${taskType} now`,
    effects: ['1 card, before those of the schedule.'],
    command: `cardpoll trigger single --card-id ${cardId} --task ${taskType}`,
    perform: async (client) => {
      const { body } = await client.triggerSingle(taskType, cardId);
      return `trigger ${body.trigger_id} polls card ${cardId} for ${taskType}`;
    },
  };
}

export function cleanupChange({ items, total_rows }: CleanupPreviewBody): PlannedChange {
  const isEstimated = items.some(({ estimated }) => estimated);
  return {
    title: `Remove ${rowCount(total_rows, isEstimated)} that have expired, for good; no card`,
    effects: items.map(
      ({ target, rows, retention_days, estimated }) =>
        `${target}: ${rowCount(rows, estimated)} older than ${retention_days} days`,
    ),
    command: 'cardpoll cleanup run',
    perform: async (client) => {
      const { body } = await client.triggerCleanup();
      return `cleanup ${body.run_id} has begun`;
    },
  };
}

function rowCount(rows: number, isEstimated: boolean): string {
  return `${isEstimated ? 'about ' : ''}${counted(rows, 'row', grouped)}`;
}

export function acknowledgeChange(alert: AlertBody): PlannedChange | string {
  const { id, rule_name, acknowledged_by: by, resolved_at: over } = alert;
  if (by !== null) return `alert ${id} is acknowledged by ${by} already`;
  if (over !== null) return `alert ${id} is over`;
  return {
    title: `Alert ${id} "${rule_name}": not acknowledged -> acknowledged by you`,
    effects: ['Everyone sees that you handle it. It keeps firing, and its end is still notified.'],
    command: `cardpoll alerts ack ${id}`,
    perform: async (client) => {
      const { body } = await client.acknowledgeAlert(id, '');
      return `alert ${body.id} is acknowledged by ${body.acknowledged_by}`;
    },
  };
}

export function silenceChange({ rule_id, rule_name }: AlertBody, length: number): PlannedChange {
  return {
    title: `Rule ${rule_id} "${rule_name}": notifies -> silent for ${seconds(length)}`,
    effects: ['Its alerts send no notifications meanwhile; they stay in the history.'],
    command: `cardpoll alerts silence ${rule_id} --for ${length}s`,
    perform: async (client) => {
      const { body } = await client.createSilence({ rule_id, seconds: length, reason: '' });
      return `rule ${rule_id} is silent for ${seconds(length)}; cardpoll alerts unsilence ${body.id} ends it`;
    },
  };
}
