// Task package: reads the card's status at the gateway (operations interface, section 1), records it, and decides whether the
// card is over its package. If it is, the engine orders its stop (engine/orders), as it does at once after a reading.
import type { Card } from '../../domain/cards/card.ts';
import type { MonthCalendar } from '../../domain/cards/month-calendar.ts';
import { usedInMonth } from '../../domain/cards/usage-month.ts';
import { CARD_RESUMED, CARD_STOPPED } from '../../domain/log-phrases.ts';
import type { Gateway } from '../../gateway/gateway.ts';
import type { Logger } from '../../platform/logger.ts';
import type { AuditTrail } from '../../store/ports/records/audit-trail.ts';
import type { StopRecords } from '../../store/ports/records/stop-records.ts';
import { type Deadline, polledNow, type Task, type TaskResult } from '../work/task.ts';

export interface PackageTaskDeps {
  readonly gateway: Gateway;
  readonly records: { readonly stops: Pick<StopRecords, 'complete'> };
  readonly audit: Pick<AuditTrail, 'log'>;
  readonly calendar: MonthCalendar;
  readonly log: Logger;
}

export class PackageTask implements Task {
  readonly taskType = 'package';

  constructor(private readonly deps: PackageTaskDeps) {}

  async poll(card: Card, deadline: Deadline): Promise<TaskResult> {
    const { gateway, calendar, log } = this.deps;
    const { value, pendingForMs } = await gateway.call('card_status', card, deadline.remainingMs());
    // While the vendor works on the card, its status shows nothing.
    const stopped = pendingForMs === undefined ? gateway.isStoppedStatus(String(value)) : card.stopped;
    const month = calendar.monthOf(deadline.nowMs());
    const usedMb = usedInMonth(card.usage, month);
    const { allowanceMb } = card;
    const isOver = allowanceMb !== null && usedMb > allowanceMb;
    // The stop was made by another system, or by our own call whose outcome was lost or late. It is recorded once.
    if (stopped && !card.stopped) await recordStop(this.deps, card, month);
    if (!stopped && card.stopped) log.info({ card_id: card.cardId, iccid: card.iccid }, CARD_RESUMED);
    return {
      outcome: {
        ...polledNow(this.taskType, card, deadline),
        ...(stopped === card.stopped ? {} : { stopped }),
        ...(isOver && !stopped ? { overPackage: true } : {}),
      },
      fields: { used_mb_month: usedMb, allowance_mb: allowanceMb, over_package: isOver, stopped },
    };
  }
}

/** Records that the gateway shows a card stopped, if our stop was in progress, or takes effect after the card's resume. */
export async function recordStop(
  { records, audit, log }: Pick<PackageTaskDeps, 'records' | 'audit' | 'log'>,
  card: Pick<Card, 'cardId' | 'iccid' | 'vendorId'>,
  month: string,
): Promise<void> {
  const entry = await records.stops.complete(card, month);
  // None of our stops was in progress: another system stopped the card, or another caller has recorded this stop.
  if (entry === null) return;
  audit.log(entry);
  const { used_mb, allowance_mb } = entry.after as { used_mb: number; allowance_mb: number | null };
  const { cardId: card_id, iccid } = card;
  log.info({ card_id, iccid, usage_month: month, used_mb_month: used_mb, allowance_mb }, CARD_STOPPED);
}
