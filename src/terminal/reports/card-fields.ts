// Cards on the screen: one as fields, with all its data or the result of a single poll, and a table of many. Used by the cards
// and trigger commands.
import { roundedMb } from '../../domain/numbers.ts';
import { failureWord } from '../../domain/stats/failure-word.ts';
import { TASK_TYPES, type TaskType } from '../../domain/task-type.ts';
import type { CardBody, CardListBody } from '../../resources/cards.ts';
import type { ExplanationBody } from '../../resources/explanation.ts';
import type { Cell, Style } from '../style.ts';
import { type Column, type Field, listTable, renderFields } from '../table.ts';

/** @param explanation absent: the stops of the card and the gateway's offers are unknown. */
export function cardFields(
  card: CardBody,
  style: Style,
  { stops: [lastStop], tasks }: Pick<ExplanationBody, 'stops' | 'tasks'> = { stops: [], tasks: [] },
): string {
  const times = TASK_TYPES.flatMap((taskType): Field[] => [
    [`${taskType} polled`, style.time(card.last_polled_at[taskType])],
    [`${taskType} next`, style.time(card.next_due_at[taskType])],
  ]);
  const { allowance_mb: allowance, ...attributes }: OfEach<Field> = {
    card_id: ['card id', style.text(card.card_id)],
    iccid: ['iccid', style.text(card.iccid)],
    vendor_id: ['vendor id', style.text(card.vendor_id ?? 'none')],
    carrier_id: ['carrier', style.text(card.carrier_id)],
    status: ['status', style.text(card.status)],
    real_name_verified: verifiedField(card, style, offersRealname(tasks)),
    stopped: stoppedField(card, style),
    allowance_mb: allowanceField(card, style),
  };
  const stop = lastStop === undefined ? [] : [lastStopField(lastStop, style)];
  return renderFields(
    [...Object.values(attributes), ...stop, allowance, usedField(card, style), ...times],
    style,
  );
}

type ListedCardBody = CardListBody['items'][number];

/** Lets the compiler require each attribute of a card. */
export type OfEach<Shown> = Readonly<Record<keyof ListedCardBody, Shown>>;

export const cardTable = listTable<ListedCardBody>((style) => {
  const columns: OfEach<Column<ListedCardBody>> = {
    card_id: { header: 'CARD', cell: (card) => style.id(card.card_id) },
    iccid: { header: 'ICCID', cell: (card) => style.text(card.iccid), least: 22 },
    vendor_id: { header: 'VENDOR ID', cell: (card) => style.text(card.vendor_id ?? ''), drop: 5 },
    carrier_id: { header: 'CARRIER', cell: (card) => style.id(card.carrier_id), drop: 2 },
    status: { header: 'STATUS', cell: (card) => style.id(card.status), drop: 3 },
    allowance_mb: { header: 'ALLOWANCE MB', cell: (card) => style.number(card.allowance_mb), drop: 1 },
    real_name_verified: { header: 'VERIFIED', cell: (card) => style.yesNo(card.real_name_verified), drop: 4 },
    stopped: { header: 'STOPPED', cell: (card) => stoppedField(card, style)[1] },
  };
  return Object.values(columns);
});

/** The fields that a poll of this task type reads from the gateway. */
export function answerFields(taskType: TaskType, card: CardBody, style: Style): Field[] {
  switch (taskType) {
    case 'realname':
      return [verifiedField(card, style)];
    case 'carddata':
      return [usedField(card, style)];
    case 'package':
      return [stoppedField(card, style), usedField(card, style), allowanceField(card, style)];
  }
}

type Failure = NonNullable<ExplanationBody['tasks'][number]['last_failure']>;

/** @param failure null: no details. */
export function failureFields(failure: Failure | null, style: Style): Field[] {
  if (failure === null) return [];
  return [
    ['reason', style.text(failureWord(failure.reason), 'red')],
    ['message', style.text(failure.message)],
    ['took', style.text(`${style.number(failure.duration_ms).text} ms`)],
  ];
}

/** False if no poll can verify cards: they are then not shown as unverified. */
export function offersRealname(tasks: ExplanationBody['tasks']): boolean {
  return !tasks.some((task) => task.task_type === 'realname' && task.state === 'not_offered');
}

function verifiedField({ real_name_verified: verified }: CardBody, style: Style, isOffered = true): Field {
  return ['real name verified', verified || isOffered ? style.yesNo(verified) : style.text('not offered')];
}

function stoppedField(card: Pick<CardBody, 'stopped'>, style: Style): Field {
  return ['stopped', card.stopped ? style.text('yes', 'yellow') : style.yesNo(false)];
}

function lastStopField({ at, action, detail }: ExplanationBody['stops'][number], style: Style): Field {
  return ['last stop', style.text(`${action} ${style.time(at).text}: ${detail}`)];
}

function allowanceField({ allowance_mb: allowance }: CardBody, style: Style): Field {
  const cell: Cell = allowance === null ? style.text('unlimited') : style.text(`${allowance} MB`);
  return ['allowance', cell];
}

function usedField(card: CardBody, style: Style): Field {
  return [`used ${card.usage_month}`, style.text(`${roundedMb(card.used_mb_month)} MB`)];
}
