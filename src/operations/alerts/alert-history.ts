// The alerts, and what an operator on call does about them: acknowledge one, retry its failed notifications. Used by
// the admin API.
import type { Actor } from '../../domain/audit.ts';
import {
  ALERT_ID_BOUNDS,
  type PageRequest,
  RECORD_ID_BOUNDS,
  type SliceOf,
  sliceOf,
} from '../../domain/page.ts';
import { CardpollError } from '../../platform/errors.ts';
import type {
  AlertHistoryItem,
  AlertRecords,
  FiringCount,
  HistoryFilter,
} from '../../store/ports/records/alert-records.ts';
import type { Audit } from '../audit.ts';
import { dated } from '../date-of.ts';
import { isWithin } from '../requirements.ts';
import type { AlertReport } from './alert-reports.ts';

/** Firing alerts by rule type and task type; combinations without any are left out. */
export interface AlertCounts {
  readonly kinds: readonly FiringCount[];
  readonly pendingWebhooks: number;
}

export class AlertHistoryOperations {
  constructor(
    private readonly records: AlertRecords,
    private readonly audit: Audit,
  ) {}

  /** @returns alerts, newest first. */
  async list(filter: HistoryFilter, page: PageRequest): Promise<SliceOf<AlertReport>> {
    if (filter.ruleId !== null && !isWithin(RECORD_ID_BOUNDS, filter.ruleId)) return { items: [], total: 0 };
    const { items, total } = await this.records.history(filter, sliceOf(page));
    return { items: items.map(dated), total };
  }

  /** @returns the numbers of firing alerts and of notifications still to be delivered. */
  async counts(): Promise<AlertCounts> {
    const [kinds, pendingWebhooks] = await Promise.all([
      this.records.firing(),
      this.records.webhooks.pending(),
    ]);
    return { kinds, pendingWebhooks };
  }

  /** The first acknowledgement wins. @throws CardpollError `not_found`; `conflict` for a resolved alert. */
  async acknowledge(actor: Actor, id: number, reason: string): Promise<AlertReport> {
    const acknowledged = await this.audit.change(actor, async ({ alerts }, note) => {
      const before = await find(alerts, id);
      await alerts.acknowledge(id, actor.name, reason);
      const after = await find(alerts, id);
      if (after.acknowledgedAtMs === null) {
        throw new CardpollError('conflict', 'alert_resolved', `alert ${id} is already resolved`);
      }
      if (before.acknowledgedAtMs === null)
        note({ action: 'alert.acknowledge', object: `alert ${id}`, before: null, after: { reason } });
      return after;
    });
    return dated(acknowledged);
  }

  /** Retries the failed notifications now. @throws CardpollError `not_found`; `conflict` when none has failed. */
  async redeliver(actor: Actor, id: number): Promise<AlertReport> {
    const alert = await this.audit.change(actor, async ({ alerts }, note) => {
      const { notifications } = await find(alerts, id);
      const count = await alerts.webhooks.redeliver(id);
      if (count === 0) {
        throw new CardpollError(
          'conflict',
          'nothing_to_redeliver',
          `alert ${id} has no failed notification`,
          {
            hint: 'pending notifications are retried by themselves; `cardpoll alerts history` shows the state of each',
          },
        );
      }
      note({ action: 'alert.redeliver', object: `alert ${id}`, before: { notifications }, after: { count } });
      return find(alerts, id);
    });
    return dated(alert);
  }
}

async function find(records: AlertRecords, id: number): Promise<AlertHistoryItem> {
  const alert = isWithin(ALERT_ID_BOUNDS, id) ? await records.alert(id) : null;
  if (alert !== null) return alert;
  throw new CardpollError('not_found', 'alert_not_found', `there is no alert ${id}`, {
    hint: '`cardpoll alerts history` shows the ids',
  });
}
