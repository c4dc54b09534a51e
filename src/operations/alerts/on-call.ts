// The operations on alerts for an operator on call: acknowledge one, retry its failed notifications, and silence notifications
// for a time. Used by the admin API.
//
// A silenced alert is evaluated and kept in the history like any other. If it still fires when the silence ends, its notification
// is sent then. If it resolves first, no notification is sent for either event. When the firing was already sent, the resolution
// is always sent.
import { SILENCE_SECONDS_BOUNDS } from '../../domain/alerts/alert-silence.ts';
import type { Actor } from '../../domain/audit.ts';
import { dated } from '../../domain/date-of.ts';
import {
  ALERT_ID_BOUNDS,
  type PageRequest,
  RECORD_ID_BOUNDS,
  type SliceOf,
  sliceOf,
} from '../../domain/page.ts';
import { CardpollError } from '../../platform/errors.ts';
import type { AlertReport, SilenceFields, SilenceReport } from '../../resources/alerts.ts';
import type {
  AlertHistoryItem,
  AlertRecords,
  HistoryFilter,
  NewSilence,
} from '../../store/ports/records/alert-records.ts';
import type { OperationDeps } from '../deps.ts';
import { isWithin } from '../requirements.ts';

/** Numbers of firing alerts by rule type and task type, without empty combinations. */
export type AlertCounts = Awaited<ReturnType<AlertHistoryOperations['counts']>>;

export class AlertHistoryOperations {
  constructor(private readonly deps: Pick<OperationDeps, 'records' | 'audit'>) {}

  /** @returns alerts, newest first. */
  async list(filter: HistoryFilter, page: PageRequest): Promise<SliceOf<AlertReport>> {
    if (filter.ruleId !== null && !isWithin(RECORD_ID_BOUNDS, filter.ruleId)) return { items: [], total: 0 };
    const { items, total } = await this.deps.records.alerts.history(filter, sliceOf(page));
    return { items: items.map(dated), total };
  }

  /** @returns the numbers of firing alerts and of undelivered notifications. */
  async counts() {
    const { alerts } = this.deps.records;
    const [kinds, pendingWebhooks] = await Promise.all([alerts.firing(), alerts.webhooks.pending()]);
    return { kinds, pendingWebhooks };
  }

  /** The first acknowledgement wins. @throws CardpollError `not_found`; `conflict` for a resolved alert. */
  async acknowledge(actor: Actor, id: number, reason: string): Promise<AlertReport> {
    const acknowledged = await this.deps.audit.change(actor, async ({ alerts }, note) => {
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
    const alert = await this.deps.audit.change(actor, async ({ alerts }, note) => {
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

export class SilenceOperations {
  constructor(private readonly deps: Pick<OperationDeps, 'records' | 'clock' | 'audit'>) {}

  /** @returns the silences in force, in order of id. */
  async list(): Promise<SilenceReport[]> {
    return (await this.deps.records.alerts.silences.list()).map(dated);
  }

  /** @throws CardpollError `invalid`, which names each wrong field. */
  async create(actor: Actor, { seconds, until, ...silence }: SilenceFields): Promise<SilenceReport> {
    const { ruleId, ruleType, taskType } = silence;
    if (ruleId === null && ruleType === null && taskType === null) {
      throw wrong('ruleId', 'is required when neither rule_type nor task_type is given');
    }
    return this.deps.audit.change(actor, async ({ alerts }, note) => {
      const ends = this.#endOf(seconds, until);
      if (ruleId !== null && (!isWithin(RECORD_ID_BOUNDS, ruleId) || (await alerts.rule(ruleId)) === null)) {
        throw wrong('ruleId', `there is no alert rule ${ruleId}`);
      }
      const made = dated(await alerts.silences.create({ ...silence, by: actor.name, ends }));
      note({ action: 'silence.begin', object: `silence ${made.id}`, before: null, after: made });
      return made;
    });
  }

  /** Ends a silence now. @returns the silence as it was. @throws CardpollError `not_found`. */
  remove(actor: Actor, id: number): Promise<SilenceReport> {
    return this.deps.audit.change(actor, async ({ alerts }, note) => {
      const removed = isWithin(RECORD_ID_BOUNDS, id) ? await alerts.silences.remove(id) : null;
      if (removed === null) {
        throw new CardpollError(
          'not_found',
          'silence_not_found',
          `there is no silence ${id}, or it has ended`,
          { hint: '`cardpoll alerts silences` shows the ids' },
        );
      }
      const ended = dated(removed);
      note({ action: 'silence.end', object: `silence ${id}`, before: ended, after: null });
      return ended;
    });
  }

  #endOf(seconds: number | null, until: Date | null): NewSilence['ends'] {
    if (seconds !== null && until === null) return { inSeconds: seconds };
    if (until === null || seconds !== null) throw wrong('seconds', 'is required, or until instead of it');
    const { max } = SILENCE_SECONDS_BOUNDS;
    const ahead = (until.getTime() - this.deps.clock.now()) / 1000;
    if (ahead > 0 && ahead <= max) return { atMs: until.getTime() };
    throw wrong('until', `must be a time within the next ${max / 86_400} days`);
  }
}

function wrong(field: string, message: string): CardpollError {
  return new CardpollError('invalid', 'invalid_field', 'the silence is not valid', {
    fields: [{ field, message }],
  });
}
