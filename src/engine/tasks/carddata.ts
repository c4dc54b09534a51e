// Task carddata: reads the card's usage and adds it to the calendar month (domain/cards/usage-month.ts).
import type { Card } from '../../domain/cards/card.ts';
import { applyReading, type MonthCalendar, usedInMonth } from '../../domain/cards/usage-month.ts';
import type { Gateway } from '../../gateway/gateway.ts';
import type { Deadline } from '../work/deadline.ts';
import type { Task, TaskResult } from '../work/task.ts';

export class CarddataTask implements Task {
  readonly taskType = 'carddata';

  constructor(
    private readonly deps: {
      readonly gateway: Gateway;
      readonly calendar: MonthCalendar;
    },
  ) {}

  async poll(card: Card, deadline: Deadline): Promise<TaskResult> {
    // The reading is dated by its request: an answer that crosses midnight still shows the old month.
    const atMs = deadline.nowMs();
    const { value } = await this.deps.gateway.call('flow', card, deadline.remainingMs());
    const month = this.deps.calendar.monthOf(atMs);
    const next = applyReading(card.usage, {
      usedMb: Number(value),
      atMs,
      month,
    });
    const usedMb = usedInMonth(next ?? card.usage, month);
    const polled = {
      cardId: card.cardId,
      taskType: this.taskType,
      polledAtMs: deadline.nowMs(),
    } as const;
    return {
      outcome:
        next === null
          ? polled
          : {
              ...polled,
              usage: { next, basedOnReadAtMs: card.usage?.readAtMs ?? null },
              overPackage: card.allowanceMb !== null && usedMb > card.allowanceMb,
            },
      fields: {
        used_mb_month: usedMb,
        usage_month: month,
        changed: next !== null,
      },
    };
  }
}
