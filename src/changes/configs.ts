// Changes of polling configs: enabled or disabled, and how often their cards are polled.
import { cardCount, span } from '../domain/words.ts';
import type { ConfigBody } from '../resources/schedule.ts';
import { selectionText } from '../terminal/reports/config-tables.ts';
import { enabledWord } from '../terminal/style.ts';
import { pollRate } from './demand.ts';
import type { PlannedChange } from './planned-change.ts';

/** Enables a disabled config, and disables an enabled one. A disabled one keeps its cards from the next matching config. */
export function switchChange(config: ConfigBody, to: boolean): PlannedChange<ConfigBody> {
  const { id, name, task_type: task, status, members } = config;
  const whom = members === null ? 'Its cards are' : `Its ${cardCount(members, ['is', 'are'])}`;
  return {
    title: `Config ${id} "${name}": ${enabledWord(status === 1)} -> ${enabledWord(to)}`,
    effects: [
      `It polls ${task} of ${selectionText(config)} every ${span(config.interval_seconds)}.`,
      to ? `${whom} polled again for ${task}.` : `${whom} not polled for ${task} until it is enabled again.`,
    ],
    command: `cardpoll configs ${to ? 'enable' : 'disable'} ${id}`,
    perform: (client) => client.updateConfig(id, { status: to ? 1 : 0 }),
    said: (body) => `config ${body.id} is ${enabledWord(body.status === 1)}`,
  };
}

export function intervalChange(
  { id, name, interval_seconds: from, members, status }: ConfigBody,
  to: number,
): PlannedChange<ConfigBody> {
  return {
    title: `Interval of config ${id} "${name}": ${span(from)} -> ${span(to)}`,
    effects: [
      members === null
        ? 'For its cards.'
        : `For ${cardCount(members)}${status === 1 ? '' : ', once it is enabled'}: ${pollRate(members / from)} -> ${pollRate(members / to)}.`,
    ],
    command: `cardpoll configs set ${id} --interval-seconds ${to}`,
    perform: (client) => client.updateConfig(id, { interval_seconds: to }),
    said: (body) => `interval of config ${body.id}: ${span(from)} -> ${span(body.interval_seconds)}`,
  };
}
