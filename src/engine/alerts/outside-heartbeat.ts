// A dead man's switch: sends messages to `alerts.heartbeat_url` at regular intervals, so that an external watchdog can page when
// they stop. Runs on the leader, and calls as webhook-sender.ts does.
//
// A heartbeat must never report a broken fleet as healthy. So a fresh reading of the fleet (src/health/verdicts.ts) comes before
// each message; no message is sent while the reading fails or the promise is broken. A missed message is not sent later.
import { receiverOf } from '../../domain/alerts/webhook.ts';
import type { FleetHealth } from '../../health/fleet-health.ts';
import { messageOf } from '../../platform/errors.ts';
import type { Logger } from '../../platform/logger.ts';
import { LoopService } from '../../platform/loop.ts';
import type { Meter } from '../../platform/meter.ts';
import type { SsrfGuard } from '../../platform/ssrf-guard.ts';
import type { OutsideHeartbeatReport } from '../../store/ports/live/coordination.ts';
import type { LeaderDeps } from '../leadership.ts';
import { attemptWebhook } from './webhook-attempt.ts';
import { heartbeatMessage, type MessageDeps } from './webhook-message.ts';

/** A new leader sends within this time. */
const FOLLOWER_REST_MS = 500;
/** Pause before a withheld or undelivered message is tried again; never longer than the interval. */
const RETRY_MS = 10_000;

export class OutsideHeartbeat extends LoopService<
  LeaderDeps &
    Omit<MessageDeps, 'timeZone' | 'receivers'> & {
      readonly health: Pick<FleetHealth, 'brokenPromise'>;
      readonly url: string;
      readonly intervalMs: number;
      readonly guard: SsrfGuard;
      readonly meter: Pick<Meter, 'webhookAttempt'>;
      readonly log: Logger;
    }
> {
  readonly name = 'outside-heartbeat';
  #sentAtMs: number | null = null;
  /** `undefined`: unknown so far. */
  #trouble: string | null | undefined = undefined;

  /** null on an instance that does not lead. */
  get report(): OutsideHeartbeatReport | null {
    return this.deps.fence() === null ? null : { sentAtMs: this.#sentAtMs, trouble: this.#trouble ?? null };
  }

  async runOnce(stopped: AbortSignal): Promise<number> {
    const { clock, fence, intervalMs } = this.deps;
    if (fence() === null) {
      this.#trouble = undefined;
      return FOLLOWER_REST_MS;
    }
    const startedAt = clock.monotonic();
    const retryMs = Math.min(RETRY_MS, intervalMs);
    const broken = await this.#brokenPromise();
    // Another instance may have taken the lead while the fleet was read.
    if (fence() === null) return FOLLOWER_REST_MS;
    if (broken !== null) {
      this.#note(broken, 'heartbeat withheld');
      return retryMs;
    }
    const { error, retryAfterMs } = await this.#send(stopped);
    if (error !== null) {
      if (!stopped.aborted) this.#note(error, 'heartbeat not delivered');
      return Math.max(retryMs, retryAfterMs);
    }
    this.#sentAtMs = clock.now();
    this.#note(null, 'heartbeat delivered');
    return Math.max(0, intervalMs - (clock.monotonic() - startedAt));
  }

  async #brokenPromise(): Promise<string | null> {
    try {
      return await this.deps.health.brokenPromise();
    } catch (error) {
      this.#note(`the fleet could not be read: ${messageOf(error)}`, 'heartbeat withheld');
      throw error;
    }
  }

  async #send(stopped: AbortSignal) {
    const { clock, guard, meter } = this.deps;
    const message = heartbeatMessage(this.deps, this.deps, clock.now());
    const result = await attemptWebhook(message, guard, stopped, clock);
    const retried = stopped.aborted ? 'stopped' : 'retried';
    meter.webhookAttempt(result.error === null ? 'delivered' : retried);
    return result;
  }

  /** Logs a change. Of the URL only the origin is shown: the rest is a secret. */
  #note(trouble: string | null, message: string): void {
    const before = this.#trouble;
    this.#trouble = trouble;
    if (before === trouble) return;
    const receiver = receiverOf(this.deps.url);
    if (trouble === null) this.deps.log.info({ receiver }, message);
    else this.deps.log.warn({ receiver, reason: trouble }, message);
  }
}
