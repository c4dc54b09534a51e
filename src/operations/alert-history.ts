// What alert rules fired, and what an on-call does about it: say that he is at it, have a notification that was given up
// tried again. Used by the admin API.
import type { AlertCondition, Resolution } from '../domain/alert-rule.ts';
import { CardpollError } from '../platform/errors.ts';
import type {
  AlertHistoryItem,
  AlertNotification,
  AlertRecords,
  HistoryFilter,
  SliceOf,
} from '../store/alert-records.ts';
import { type PageRequest, sliceOf } from './page.ts';

/** One alert; condition and name are those of the moment it fired. */
export interface AlertReport extends AlertCondition {
  readonly id: number;
  readonly ruleId: number;
  readonly ruleName: string;
  readonly value: number;
  readonly firedAt: Date;
  /** Null while it fires. */
  readonly resolvedAt: Date | null;
  readonly resolution: Resolution | null;
  readonly resolvedValue: number | null;
  /** Null before somebody says that he is at it, as the two below. */
  readonly acknowledgedAt: Date | null;
  readonly acknowledgedBy: string | null;
  readonly acknowledgedReason: string | null;
  /** Of one that fires: now; of one that is over: when it was resolved. */
  readonly silenced: boolean;
  readonly notifications: readonly AlertNotification[];
}

const MAX_RULE_ID = 2 ** 31 - 1;

export class AlertHistoryOperations {
  constructor(private readonly records: AlertRecords) {}

  /** Newest first. */
  async list(filter: HistoryFilter, page: PageRequest): Promise<SliceOf<AlertReport>> {
    if (filter.ruleId !== null && !isId(filter.ruleId, MAX_RULE_ID)) return { items: [], total: 0 };
    const { items, total } = await this.records.history(filter, sliceOf(page));
    return { items: items.map(reportOf), total };
  }

  /** The first one who says so stays. Throws `not_found`, and `conflict` for an alert that is over. */
  async acknowledge(id: number, by: string, reason: string): Promise<AlertReport> {
    await this.#find(id);
    await this.records.acknowledge(id, by, reason);
    const alert = await this.#find(id);
    if (alert.acknowledgedAtMs !== null) return reportOf(alert);
    throw new CardpollError('conflict', 'alert_resolved', `alert ${id} is over already`);
  }

  /** Has what was given up tried once more, at once. Throws `not_found`, and `conflict` where nothing was given up. */
  async redeliver(id: number): Promise<AlertReport> {
    const alert = await this.#find(id);
    if ((await this.records.webhooks.redeliver(alert.id)) > 0) return reportOf(await this.#find(id));
    throw new CardpollError(
      'conflict',
      'nothing_to_redeliver',
      `no notification of alert ${id} was given up`,
      {
        hint: 'what is pending is tried by itself; `cardpoll alerts history` shows which is which',
      },
    );
  }

  async #find(id: number): Promise<AlertHistoryItem> {
    const alert = isId(id, Number.MAX_SAFE_INTEGER) ? await this.records.alert(id) : null;
    if (alert !== null) return alert;
    throw new CardpollError('not_found', 'alert_not_found', `there is no alert ${id}`, {
      hint: '`cardpoll alerts history` shows the ids',
    });
  }
}

function isId(id: number, max: number): boolean {
  return Number.isInteger(id) && id > 0 && id <= max;
}

function reportOf({ firedAtMs, resolvedAtMs, acknowledgedAtMs, ...alert }: AlertHistoryItem): AlertReport {
  return {
    ...alert,
    firedAt: new Date(firedAtMs),
    resolvedAt: dateOf(resolvedAtMs),
    acknowledgedAt: dateOf(acknowledgedAtMs),
  };
}

function dateOf(ms: number | null): Date | null {
  return ms === null ? null : new Date(ms);
}
