// The options that describe a polling config, for `cardpoll configs set` and `create`.
import type { ConfigRequest } from '../../../api/client/client-bodies.ts';
import { duration, integer, oneOf, text } from '../../../config/kinds.ts';
import { SELECTION_BOUNDS } from '../../../domain/manual-trigger.ts';
import {
  CARD_CONDITIONS,
  type CardCondition,
  INTERVAL_SECONDS_BOUNDS,
  PRIORITY_BOUNDS,
} from '../../../domain/schedule/polling-config.ts';
import { TASK_TYPES, type TaskType } from '../../../domain/task-type.ts';
import { CardpollError } from '../../../platform/errors.ts';
import type { OptionSpec } from '../../command.ts';

export interface ConfigOptions {
  readonly name?: string;
  readonly task?: TaskType;
  readonly cards?: CardCondition;
  readonly carrierId?: number;
  readonly allCarriers?: boolean;
  readonly intervalSeconds?: number;
  readonly priority?: number;
}

export type NewConfigOptions = ConfigOptions &
  Required<Pick<ConfigOptions, 'name' | 'task' | 'intervalSeconds'>> & { readonly disabled?: boolean };

export function configOptions(required: boolean): readonly OptionSpec[] {
  return [
    { flags: '--name <text>', doc: 'name of the config', kind: text('name'), required },
    { flags: '--task <task_type>', doc: TASK_TYPES.join(', '), kind: oneOf(TASK_TYPES), required },
    {
      flags: '--cards <condition>',
      doc: `${CARD_CONDITIONS.join(', ')}${required ? ' (default: any)' : ''}`,
      kind: oneOf(CARD_CONDITIONS),
    },
    {
      flags: '--carrier-id <n>',
      doc: `only cards of this carrier${required ? ' (default: all carriers)' : ''}`,
      kind: integer(SELECTION_BOUNDS),
    },
    {
      flags: '--interval-seconds <n>',
      doc: 'time between two polls of a card, in seconds or as 15m, 1h',
      kind: duration('s', INTERVAL_SECONDS_BOUNDS),
      required,
    },
    {
      flags: '--priority <n>',
      doc: `if several configs match a card, the highest priority wins, then the lowest id${required ? ' (default: 0)' : ''}`,
      kind: integer(PRIORITY_BOUNDS),
    },
  ];
}

export function requestOf(options: ConfigOptions): Partial<ConfigRequest> {
  const { name, task, cards, carrierId, allCarriers, intervalSeconds, priority } = options;
  if (carrierId !== undefined && allCarriers === true) {
    const message = '--carrier-id and --all-carriers contradict each other: keep one';
    throw new CardpollError('usage', 'contradiction', message);
  }
  return {
    ...(name === undefined ? {} : { name }),
    ...(task === undefined ? {} : { task_type: task }),
    ...(cards === undefined ? {} : { card_condition: cards }),
    ...(carrierId === undefined ? {} : { carrier_id: carrierId }),
    ...(allCarriers === true ? { carrier_id: null } : {}),
    ...(intervalSeconds === undefined ? {} : { interval_seconds: intervalSeconds }),
    ...(priority === undefined ? {} : { priority }),
  };
}
