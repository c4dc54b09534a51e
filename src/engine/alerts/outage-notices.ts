// The notices of an outage that an instance sends while PostgreSQL is down: receivers, results, and the time of the next attempt.
// Used by outage-watch.ts. The receivers are those of the enabled rules at the last read, without receivers that only silenced
// rules have. Each receiver is retried until it accepts or refuses permanently, at the end once a minute. When PostgreSQL is
// back, the outbox takes over the undelivered notices.
import { randomUUID } from 'node:crypto';
import type { AlertCause } from '../../domain/alerts/alert-cause.ts';
import type { AlertRule } from '../../domain/alerts/alert-rule.ts';
import type { Silence } from '../../domain/alerts/alert-silence.ts';
import { receiverOf } from '../../domain/alerts/webhook.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logger.ts';
import type { Meter } from '../../platform/meter.ts';
import type { SsrfGuard } from '../../platform/ssrf-guard.ts';
import type { OutageNotice } from '../../store/ports/records/alert-records.ts';
import { attemptWebhook, isSuccess } from './webhook-attempt.ts';
import { type MessageDeps, webhookMessage } from './webhook-message.ts';

export interface NoticeDeps extends MessageDeps {
  readonly guard: SsrfGuard;
  readonly meter: Pick<Meter, 'webhookAttempt'>;
  readonly clock: Clock;
  readonly log: Logger;
}

const FIRST_PAUSE_MS = 5_000;
const LONGEST_PAUSE_MS = 60_000;

interface Notice extends OutageNotice {
  /** Time of the next attempt, by the monotonic clock. */
  readonly dueAt: number;
}

export class OutageNotices {
  #rules: readonly AlertRule[] = [];
  #silences: readonly Silence[] = [];
  /** Notices by receiver; null before the first attempt of an outage. */
  #notices: Map<string, Notice> | null = null;

  constructor(private readonly means: NoticeDeps) {}

  remember(rules: readonly AlertRule[], silences: readonly Silence[]): void {
    this.#rules = rules;
    this.#silences = silences;
  }

  /** The notices of this outage; null: no attempt was made yet. */
  get sent(): readonly OutageNotice[] | null {
    if (this.#notices === null) return null;
    return [...this.#notices.values()].map(({ dueAt: _, ...notice }) => notice);
  }

  clear(): void {
    this.#notices = null;
  }

  /** Makes one attempt for each receiver that is due. Resolves when all attempts have ended. */
  async send(cause: AlertCause, firedAtMs: number, stopped: AbortSignal): Promise<void> {
    this.#notices ??= this.#first();
    const now = this.means.clock.monotonic();
    const due = [...this.#notices.values()].filter(
      ({ status, dueAt }) => status === 'pending' && dueAt <= now,
    );
    for (const tried of await Promise.all(due.map((one) => this.#attempt(one, cause, firedAtMs, stopped)))) {
      this.#notices.set(receiverKey(tried), tried);
    }
  }

  #first(): Map<string, Notice> {
    const first = new Map<string, Notice>();
    for (const { webhookUrl: url, webhookSecrets: secrets, webhookFormat: format } of this.#noticeRules()) {
      if (url === null || first.has(receiverKey({ url, secrets, format }))) continue;
      const message = {
        messageId: randomUUID(),
        status: 'pending',
        attempts: 0,
        lastError: null,
        answered: false,
      } as const;
      const notice = { url, secrets, format, ...message, dueAt: Number.NEGATIVE_INFINITY };
      first.set(receiverKey(notice), notice);
    }
    return first;
  }

  #noticeRules(): readonly AlertRule[] {
    const now = this.means.clock.now();
    const silences = this.#silences.filter(({ untilMs }) => untilMs > now);
    return this.#rules.filter(
      (rule) =>
        rule.isEnabled && rule.notifyChannels.length > 0 && !silences.some((one) => covers(one, rule)),
    );
  }

  async #attempt(
    notice: Notice,
    cause: AlertCause,
    firedAtMs: number,
    stopped: AbortSignal,
  ): Promise<Notice> {
    const { clock, guard, meter, log } = this.means;
    const { url, messageId } = notice;
    const alert = { ...OF_NO_RULE, cause, firedAtMs };
    const event = { event: 'alert.fired', messageId, alert, group: null } as const;
    const message = webhookMessage(event, notice, this.means, clock.now());
    const { error, lasting, retryAfterMs, status } = await attemptWebhook(message, guard, stopped, clock);
    if (stopped.aborted && error !== null) return notice;
    const attempts = notice.attempts + 1;
    const fields = { alert: 'Stores', receiver: receiverOf(url), attempt: attempts };
    if (error === null) {
      log.info(fields, 'webhook delivered');
      meter.webhookAttempt('delivered');
      return { ...notice, attempts, status: 'delivered' };
    }
    const pauseMs = Math.max(retryAfterMs, Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (attempts - 1)));
    log.warn(
      { ...fields, reason: error },
      lasting ? 'webhook failed, no more attempts' : 'webhook not delivered',
    );
    meter.webhookAttempt(lasting ? 'failed' : 'retried');
    return {
      ...{ ...notice, attempts, lastError: error, answered: isSuccess(status) },
      status: lasting ? 'failed' : 'pending',
      dueAt: clock.monotonic() + pauseMs,
    };
  }
}

/** Two receivers differ as in outages.open. */
function receiverKey({ url, secrets, format }: Pick<OutageNotice, 'url' | 'secrets' | 'format'>): string {
  return JSON.stringify([url, secrets, format]);
}

/** The same values as outages.open writes. */
const OF_NO_RULE = {
  ...({ id: 0, ruleId: 0, ruleName: 'Stores', ruleType: 'health', taskType: 'package' } as const),
  ...({ comparison: '>', threshold: 1, value: 2 } as const),
  ...{ causeSinceMs: null, earlierCauses: [] },
  ...{ resolvedAtMs: null, resolution: null, resolvedValue: null },
};

/** The same decision as alert_is_silenced(). */
function covers({ ruleId, ruleType, taskType }: Silence, rule: AlertRule): boolean {
  return (
    (ruleId === null || ruleId === rule.id) &&
    (ruleType === null || ruleType === rule.ruleType) &&
    (taskType === null || taskType === rule.taskType)
  );
}
