// Manual triggers as tables. Used by the trigger commands. Shows what the API says.
import type { CancelledTriggersBody, TriggerBody } from '../../../api/client/client-bodies.ts';
import { EARLY_COUNTED } from '../../../domain/manual-trigger.ts';
import type { Colour, Style } from '../style.ts';
import { type Field, fieldList, listTable, renderFields } from '../table.ts';

const COLOURS: Partial<Record<TriggerBody['status'], Colour>> = { completed: 'green', cancelled: 'yellow' };

export const triggerTable = listTable<TriggerBody>((style) => [
  { header: 'TRIGGER', cell: (row) => style.text(row.trigger_id), least: 16 },
  { header: 'KIND', cell: (row) => style.text(row.kind), drop: 2 },
  { header: 'TASK', cell: (row) => style.text(row.task_type), drop: 6 },
  { header: 'STATUS', cell: (row) => style.text(row.status, COLOURS[row.status]) },
  { header: 'TOTAL', cell: (row) => style.estimate(row.total, row.total_estimated), drop: 7 },
  { header: 'WAITING', cell: (row) => style.number(row.waiting), drop: 3 },
  { header: 'SUCCEEDED', cell: (row) => style.number(row.succeeded), drop: 4 },
  { header: 'FAILED', cell: (row) => style.failures(row.failed), drop: 8 },
  { header: 'CREATED', cell: (row) => style.time(row.created_at), drop: 5 },
  { header: 'FINISHED', cell: (row) => style.time(row.finished_at), drop: 1 },
]);

/** @param outcome the result of the poll, once it is known. */
export function triggerFields(trigger: TriggerBody, style: Style, outcome: readonly Field[] = []): string {
  return renderFields(
    [
      ['trigger', style.text(trigger.trigger_id)],
      ['kind', style.text(trigger.kind)],
      ['task', style.text(trigger.task_type)],
      ...(trigger.selection === null
        ? []
        : [['cards', style.text(selectionText(trigger.selection))] as const]),
      ['status', style.text(trigger.status, COLOURS[trigger.status])],
      ['total', style.estimate(trigger.total, trigger.total_estimated)],
      ['waiting', style.number(trigger.waiting)],
      ...(trigger.early === 0 ? [] : earlyFields(trigger, style)),
      ['running', style.number(trigger.running)],
      ['succeeded', style.number(trigger.succeeded)],
      ['failed', style.failures(trigger.failed)],
      ['created', style.time(trigger.created_at)],
      ['finished', style.time(trigger.finished_at)],
      ...outcome,
    ],
    style,
  );
}

export const cancelledFields = fieldList<CancelledTriggersBody>(({ triggers, cards }, style) => [
  ['cancelled triggers', style.number(triggers)],
  ['cards not polled', style.number(cards)],
]);

/** The selection in words. */
export function selectionText(selection: NonNullable<TriggerBody['selection']>): string {
  const parts = [
    ...(selection.carrier_id === null ? [] : [`carrier ${selection.carrier_id}`]),
    ...(selection.status === null ? [] : [`status ${selection.status}`]),
  ];
  return parts.length === 0 ? 'the whole fleet' : `every card with ${parts.join(' and ')}`;
}

function earlyFields({ early, early_until: until }: TriggerBody, style: Style): Field[] {
  const cards = style.number(early);
  const isMore = early === EARLY_COUNTED && style.forPeople;
  return [
    ['too early', isMore ? { ...cards, text: `${cards.text} or more` } : cards],
    ['the last until', style.time(until)],
  ];
}
