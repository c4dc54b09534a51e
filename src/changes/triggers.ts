// Polls outside the schedule: orders or cancels one.
import type { TaskType } from '../domain/task-type.ts';
import { cardCount, grouped } from '../domain/words.ts';
import type { TriggerBody } from '../resources/triggers.ts';
import type { PlannedChange } from './planned-change.ts';

export function cancelChange({
  trigger_id,
  status,
  waiting,
  running,
}: TriggerBody): PlannedChange<TriggerBody> | string {
  if (status === 'completed' || status === 'cancelled') return `trigger ${trigger_id} has already ended`;
  return {
    title: `Trigger ${trigger_id}: ${status} -> cancelled`,
    effects: [
      `${cardCount(waiting)} will not be polled by it; ${grouped(running)} running ones are finished.`,
    ],
    command: `cardpoll trigger cancel ${trigger_id}`,
    perform: (client) => client.cancelTrigger(trigger_id),
    said: (body) => `trigger ${body.trigger_id} is ${body.status}`,
  };
}

export function pollChange(taskType: TaskType, cardId: number): PlannedChange<TriggerBody> {
  return {
    title: `Poll card ${cardId} for ${taskType} now`,
    effects: ['1 card, before those of the schedule.'],
    command: `cardpoll trigger single --card-id ${cardId} --task ${taskType}`,
    perform: (client) => client.triggerSingle(taskType, cardId),
    said: ({ trigger_id }) => `trigger ${trigger_id} polls card ${cardId} for ${taskType}`,
  };
}
