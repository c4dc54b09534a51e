// Delivers the webhook outbox. The leader sends, or every instance while Redis is down (outage-watch.ts); a lease on each
// notification ensures that only one instance sends it.
//
// Life of a notification: pending -> claimed (an attempt begins) -> delivered, failed, or pending again after a pause. Delivery
// is at least once: when a sender dies between call and settle, its claim expires, and the same message id is sent again.
// webhook-attempt.ts decides which answers count as delivered. These failures are final: 410 (the
// receiver is gone), an address that must not be called, and a robot's permanent refusal. A busy receiver is not called before
// the time that it names.
//
// A pass starts attempts and does not wait for them, so a receiver that hangs does not delay the others.

import { receiverOf } from '../../domain/alerts/webhook.ts';
import { groupBy } from '../../domain/group-by.ts';
import type { Logger } from '../../platform/logger.ts';
import { type LoopDeps, LoopService } from '../../platform/loop.ts';
import type { Meter } from '../../platform/meter.ts';
import type { SsrfGuard } from '../../platform/ssrf-guard.ts';
import type {
  DeliveryOutcome,
  WebhookDelivery,
  WebhookOutbox,
} from '../../store/ports/records/alert-records.ts';
import { attemptWebhook, isSuccess } from './webhook-attempt.ts';
import { type MessageDeps, webhookMessage } from './webhook-message.ts';

const REST_MS = 500;
const LEASE_MS = 30_000;
const MAX_AT_ONCE = 16;
/** Limit per receiver, so that one that hangs leaves attempts for the others. */
const MAX_AT_ONCE_PER_URL = 4;
/** Pause after each failed attempt, milliseconds; after eight attempts in about 17 hours the message is given up. */
const PAUSES_MS = [5_000, 30_000, 120_000, 600_000, 3_600_000, 14_400_000, 43_200_000];
/** Pauses vary by a quarter either way, so that the messages of one outage are not retried all at once. */
const JITTER = 0.25;

/** Notifications in one request; the first gives the message its id. */
type Message = [WebhookDelivery, ...WebhookDelivery[]];

export class WebhookSender extends LoopService<
  LoopDeps &
    MessageDeps & {
      /** True on the instance that sends: the leader, or all instances while Redis is down. */
      readonly sends: () => boolean;
      readonly outbox: WebhookOutbox;
      readonly guard: SsrfGuard;
      readonly meter: Pick<Meter, 'webhookAttempt'>;
      readonly random: () => number;
      readonly log: Logger;
    }
> {
  readonly name = 'webhook-sender';
  readonly #attempts = new Set<Promise<void>>();
  /** Error of an attempt that could not be settled; the next pass throws it. */
  #failure: { readonly error: unknown } | null = null;

  async runOnce(signal: AbortSignal): Promise<number> {
    this.#throwFailure();
    const limit = MAX_AT_ONCE - this.#attempts.size;
    if (!this.deps.sends() || limit === 0) return REST_MS;
    const deliveries = await this.deps.outbox.claim({
      limit,
      limitPerUrl: MAX_AT_ONCE_PER_URL,
      leaseMs: LEASE_MS,
    });
    const messages = groupBy(deliveries, ({ groupKey, id }) => groupKey ?? `${id}`);
    for (const message of messages.values()) this.#begin(message, signal);
    return deliveries.length === 0 ? REST_MS : 0;
  }

  /** Aborts the attempts in progress and returns their notifications to the outbox. */
  override async stop(): Promise<void> {
    await super.stop();
    await this.settled();
    this.#throwFailure();
  }

  /** Resolves when all attempts started so far have ended and are recorded. */
  async settled(): Promise<void> {
    await Promise.all(this.#attempts);
  }

  #begin(message: Message, stopped: AbortSignal): void {
    const attempt = this.#deliver(message, stopped)
      .catch((error: unknown) => {
        this.#failure ??= { error };
      })
      .finally(() => {
        this.#attempts.delete(attempt);
        this.wake();
      });
    this.#attempts.add(attempt);
  }

  #throwFailure(): void {
    const failure = this.#failure;
    this.#failure = null;
    if (failure !== null) throw failure.error;
  }

  async #deliver(message: Message, stopped: AbortSignal): Promise<void> {
    const outcome = await this.#attempt(message, stopped);
    const { status } = outcome;
    const retried = stopped.aborted ? 'stopped' : 'retried';
    this.deps.meter.webhookAttempt(status === 'pending' ? retried : status);
    const settled = new Set(await this.deps.outbox.settle(message, outcome));
    for (const delivery of message) if (settled.has(delivery.id)) this.#report(delivery, outcome);
  }

  #report(delivery: WebhookDelivery, { status, ...details }: DeliveryOutcome): void {
    const fields = {
      alert_id: delivery.alert.id,
      event: delivery.event,
      receiver: receiverOf(delivery.url),
      attempt: delivery.attempt,
      ...('error' in details ? { reason: details.error } : {}),
      ...('retryInMs' in details ? { retry_in_ms: details.retryInMs } : {}),
    };
    if (status === 'delivered') this.deps.log.info(fields, 'webhook delivered');
    else
      this.deps.log.warn(
        fields,
        status === 'failed' ? 'webhook failed, no more attempts' : 'webhook not delivered',
      );
  }

  async #attempt(message: Message, stopped: AbortSignal): Promise<DeliveryOutcome> {
    const { clock, guard, random } = this.deps;
    const [delivery] = message;
    const group = delivery.groupKey === null ? null : message.map(({ alert }) => alert);
    const sent = webhookMessage({ ...delivery, group }, delivery, this.deps, clock.now());
    const { error, lasting, retryAfterMs, status } = await attemptWebhook(sent, guard, stopped, clock);
    if (error === null) return { status: 'delivered' };
    if (stopped.aborted) return { status: 'pending', retryInMs: 0, error, answered: false };
    const pauseMs = lasting ? null : retryPauseMs(delivery.attempt, random());
    if (pauseMs === null) return { status: 'failed', error };
    const answered = isSuccess(status);
    return { status: 'pending', retryInMs: Math.max(pauseMs, retryAfterMs), error, answered };
  }
}

/**
 * @param attempt number of the failed attempt, from 1
 * @param random in [0, 1)
 * @returns the pause before the next attempt, milliseconds; null to give up
 */
export function retryPauseMs(attempt: number, random: number): number | null {
  const pauseMs = PAUSES_MS[attempt - 1];
  return pauseMs === undefined ? null : Math.round(pauseMs * (1 - JITTER + 2 * JITTER * random));
}
