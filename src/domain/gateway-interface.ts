// The interfaces of the gateway profile (contract, "Gateway profile"): the calls cardpoll makes upstream.
import type { TaskType } from './task-type.ts';

export const INTERFACE_NAMES = ['realname', 'flow', 'card_status', 'stop', 'start'] as const;
export type InterfaceName = (typeof INTERFACE_NAMES)[number];

/** The interface each task type calls to look at a card. */
export const TASK_INTERFACES: Record<TaskType, InterfaceName> = {
  realname: 'realname',
  carddata: 'flow',
  package: 'card_status',
};

/** Stands beside the interfaces where something concerns the gateway as a whole. */
export const WHOLE_GATEWAY = 'gateway';
