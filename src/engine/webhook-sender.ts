// Delivers the webhook outbox. Runs on the leader; a claim with a lease keeps a second sender away should two believe
// they lead.
//
// Life of a notification: pending -> claimed (an attempt begins) -> delivered, failed, or pending again after a pause.
// It is delivered at least once: who dies between call and settle leaves a claim that ends by itself, and the same
// message id is sent again. Only a 2xx answer counts as delivered. 410 says the receiver is gone, and an address that may
// not be called stays one: neither is tried again.
import type { Clock } from '../platform/clock.ts';
import { CardpollError, messageOf } from '../platform/errors.ts';
import type { Logger } from '../platform/logger.ts';
import { type LoopErrorHandler, LoopService } from '../platform/loop.ts';
import type { SsrfGuard } from '../platform/ssrf-guard.ts';
import type { DeliveryOutcome, WebhookDelivery, WebhookOutbox } from '../store/alert-records.ts';
import { callWebhook } from './webhook-call.ts';
import { webhookMessage } from './webhook-message.ts';
import { retryPauseMs } from './webhook-retry.ts';

const REST_MS = 500;
/** For name look-up, connection, request and answer together. */
const CALL_TIMEOUT_MS = 10_000;
const LEASE_MS = 30_000;
const MAX_AT_ONCE = 16;
/** A receiver that answers nothing must not keep all others waiting. */
const MAX_AT_ONCE_PER_URL = 4;
const GONE = 410;

export class WebhookSender extends LoopService {
  constructor(
    private readonly deps: {
      readonly outbox: WebhookOutbox;
      readonly guard: SsrfGuard;
      /** `whsec_...`; null: not signed. */
      readonly secret: string | null;
      readonly fence: () => number | null;
      readonly clock: Clock;
      readonly random: () => number;
      readonly log: Logger;
      readonly onError: LoopErrorHandler;
    },
  ) {
    super('webhook-sender', deps.onError);
  }

  async runOnce(signal: AbortSignal): Promise<number> {
    if (this.deps.fence() === null) return REST_MS;
    const deliveries = await this.deps.outbox.claim({
      limit: MAX_AT_ONCE,
      limitPerUrl: MAX_AT_ONCE_PER_URL,
      leaseMs: LEASE_MS,
    });
    await Promise.all(deliveries.map((delivery) => this.#deliver(delivery, signal)));
    return deliveries.length === 0 ? REST_MS : 0;
  }

  async #deliver(delivery: WebhookDelivery, stopped: AbortSignal): Promise<void> {
    const outcome = await this.#attempt(delivery, stopped);
    const { status, ...details } = outcome;
    if (!(await this.deps.outbox.settle(delivery, outcome))) return;
    const fields = {
      alert_id: delivery.alert.id,
      event: delivery.event,
      // Without the path: that is where receivers keep their secrets.
      receiver: URL.canParse(delivery.url) ? new URL(delivery.url).origin : null,
      attempt: delivery.attempt,
      ...('error' in details ? { reason: details.error } : {}),
      ...('retryInMs' in details ? { retry_in_ms: details.retryInMs } : {}),
    };
    if (status === 'delivered') this.deps.log.info(fields, 'webhook delivered');
    else this.deps.log.warn(fields, status === 'failed' ? 'webhook given up' : 'webhook not delivered');
  }

  async #attempt(delivery: WebhookDelivery, stopped: AbortSignal): Promise<DeliveryOutcome> {
    const { clock, guard, secret } = this.deps;
    const deadline = AbortSignal.timeout(CALL_TIMEOUT_MS);
    try {
      const message = webhookMessage(delivery, secret, clock.now());
      const status = await callWebhook(delivery.url, message, guard, AbortSignal.any([stopped, deadline]));
      if (status >= 200 && status < 300) return { status: 'delivered' };
      if (status === GONE) return { status: 'failed', error: 'answered 410: the receiver is gone' };
      return this.#again(delivery, `answered ${status}`);
    } catch (error) {
      if (stopped.aborted) return { status: 'pending', retryInMs: 0, error: 'cardpoll was stopped' };
      if (error instanceof CardpollError) return { status: 'failed', error: error.message };
      return this.#again(
        delivery,
        deadline.aborted ? `no answer within ${CALL_TIMEOUT_MS} ms` : messageOf(error),
      );
    }
  }

  #again({ attempt }: WebhookDelivery, error: string): DeliveryOutcome {
    const retryInMs = retryPauseMs(attempt, this.deps.random());
    return retryInMs === null ? { status: 'failed', error } : { status: 'pending', retryInMs, error };
  }
}
