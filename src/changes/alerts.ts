// An operator's changes to a firing alert.
import { span } from '../domain/words.ts';
import type { AlertBody } from '../resources/alerts.ts';
import type { PlannedChange } from './planned-change.ts';

export function acknowledgeChange(alert: AlertBody): PlannedChange<AlertBody> | string {
  const { id, rule_name, acknowledged_by: by, resolved_at: over } = alert;
  if (by !== null) return `alert ${id} is acknowledged by ${by} already`;
  if (over !== null) return `alert ${id} is over`;
  return {
    title: `Alert ${id} "${rule_name}": not acknowledged -> acknowledged by you`,
    effects: ['Everyone sees that you handle it. It keeps firing, and its end is still notified.'],
    command: `cardpoll alerts ack ${id}`,
    perform: (client) => client.acknowledgeAlert(id, ''),
    said: (body) => `alert ${body.id} is acknowledged by ${body.acknowledged_by}`,
  };
}

export function silenceChange({ rule_id, rule_name }: AlertBody, seconds: number): PlannedChange {
  return {
    title: `Rule ${rule_id} "${rule_name}": notifies -> silent for ${span(seconds)}`,
    effects: [
      'Its alerts send no notifications meanwhile, but for the end of one that was notified; they stay in the history.',
    ],
    command: `cardpoll alerts silence ${rule_id} --for ${seconds}s`,
    perform: (client) => client.createSilence({ rule_id, seconds, reason: '' }),
    said: ({ id }) =>
      `rule ${rule_id} is silent for ${span(seconds)}; cardpoll alerts unsilence ${id} ends it`,
  };
}
