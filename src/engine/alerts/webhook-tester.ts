// Sends the webhook of a rule once, now, and returns the result. Used by the operations when an operator asks for a
// test. Writes neither to the outbox nor to the history.
import { randomUUID } from 'node:crypto';
import type { AlertRule } from '../../domain/alerts/alert-rule.ts';
import type { Clock } from '../../platform/clock.ts';
import type { SsrfGuard } from '../../platform/ssrf-guard.ts';
import { attemptWebhook, webhookMessage } from './webhook-attempt.ts';

export interface WebhookTrial {
  readonly delivered: boolean;
  /** HTTP status of the answer; null without an answer. */
  readonly status: number | null;
  readonly error: string | null;
  readonly durationMs: number;
}

export class WebhookTester {
  constructor(
    private readonly deps: {
      readonly guard: SsrfGuard;
      /** Signing keys for rules without their own, newest first. */
      readonly secrets: readonly string[];
      readonly clock: Clock;
    },
  ) {}

  /** Sends the message of an alert at the rule's threshold. Takes up to ten seconds, like any attempt. */
  async test(rule: AlertRule, url: string): Promise<WebhookTrial> {
    const { guard, secrets, clock } = this.deps;
    const { id: ruleId, name: ruleName, ruleType, taskType, comparison, threshold } = rule;
    const firedAtMs = clock.now();
    const message = webhookMessage(
      {
        event: 'alert.test',
        messageId: randomUUID(),
        group: null,
        alert: {
          ...{ id: 0, ruleId, ruleName, ruleType, taskType, comparison, threshold, value: threshold },
          ...{ firedAtMs, resolvedAtMs: null, resolution: null, resolvedValue: null },
        },
      },
      rule.webhookSecrets.length > 0 ? rule.webhookSecrets : secrets,
      firedAtMs,
    );
    const startedMs = clock.monotonic();
    const { status, error } = await attemptWebhook(url, message, guard, new AbortController().signal);
    const durationMs = Math.round(clock.monotonic() - startedMs);
    return { delivered: error === null, status, error, durationMs };
  }
}
