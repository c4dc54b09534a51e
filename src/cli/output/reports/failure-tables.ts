// Why polls fail, as tables. Used by the stats command. Shows what the API says.
import type { FailuresBody } from '../../../api/client/client-bodies.ts';
import type { Style } from '../style.ts';
import { listTable } from '../table.ts';

interface ReasonRow {
  readonly task: string;
  readonly reason: string;
  readonly count: number;
}

interface CarrierRow {
  readonly task: string;
  readonly carrier: FailuresBody['carriers'][number];
}

interface CardRow {
  readonly task: string;
  readonly card: FailuresBody['cards'][number];
}

/** Reasons, failing carriers and failing cards of each task type; as records the failing cards alone. */
export function failureText(items: readonly FailuresBody[], style: Style): string {
  const cards = items.flatMap(({ task_type: task, cards: own }) => own.map((card) => ({ task, card })));
  if (!style.forPeople) return cardTable(cards, style);
  const reasons = items.flatMap(({ task_type: task, reasons: own }) => own.map((one) => ({ task, ...one })));
  if (reasons.length === 0 && cards.length === 0) {
    return 'no poll failed in the last five minutes, and no card is failing\n';
  }
  const carriers = items.flatMap(({ task_type: task, carriers: own }) =>
    own.map((carrier) => ({ task, carrier })),
  );
  const failing = items.reduce((sum, { failing_cards: count }) => sum + count, 0);
  const shown = cards.length < failing ? `, the latest ${style.number(cards.length).text}` : '';
  return [
    reasons.length === 0 ? 'no poll failed in the last five minutes\n' : reasonTable(reasons, style),
    ...(carriers.length === 0 ? [] : [carrierTable(carriers, style)]),
    `${style.number(failing).text} failing ${failing === 1 ? 'card' : 'cards'}${shown}\n`,
    cards.length === 0 ? '' : cardTable(cards, style),
  ].join('\n');
}

const reasonTable = listTable<ReasonRow>((style) => [
  { header: 'TASK', cell: ({ task }) => style.text(task) },
  { header: 'FAILURES 5MIN', cell: ({ count }) => style.number(count) },
  { header: 'REASON', cell: ({ reason }) => style.text(reason), least: 12 },
]);

const carrierTable = listTable<CarrierRow>((style) => [
  { header: 'TASK', cell: ({ task }) => style.text(task) },
  { header: 'CARRIER', cell: ({ carrier }) => style.id(carrier.carrier_id) },
  { header: 'POLLS 5MIN', cell: ({ carrier }) => style.number(carrier.polls) },
  { header: 'FAILED', cell: ({ carrier }) => style.number(carrier.failed) },
  { header: 'FAILED %', cell: ({ carrier }) => style.number(carrier.failed_percent, 1) },
]);

const cardTable = listTable<CardRow>((style) => [
  { header: 'TASK', cell: ({ task }) => style.text(task) },
  { header: 'CARD', cell: ({ card }) => style.id(card.card_id) },
  { header: 'FAILED', cell: ({ card }) => style.time(card.at), drop: 4 },
  { header: 'REASON', cell: ({ card }) => style.text(card.reason), least: 10 },
  { header: 'IN A ROW', cell: ({ card }) => style.number(card.attempts), drop: 2 },
  { header: 'MS', cell: ({ card }) => style.number(card.duration_ms), drop: 1 },
  { header: 'MESSAGE', cell: ({ card }) => style.text(card.message), least: 12, drop: 3 },
]);
