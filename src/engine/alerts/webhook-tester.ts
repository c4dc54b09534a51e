// Sends the webhook of a rule once, now, and tells what came of it. Used by the operations when an operator asks; leaves
// nothing behind: neither outbox nor history knows of it.
import { randomUUID } from 'node:crypto';
import type { AlertRule } from '../../domain/alerts/alert-rule.ts';
import type { Clock } from '../../platform/clock.ts';
import type { SsrfGuard } from '../../platform/ssrf-guard.ts';
import { attemptWebhook } from './webhook-attempt.ts';
import { webhookMessage } from './webhook-message.ts';

export interface WebhookTrial {
  readonly delivered: boolean;
  /** Of the answer; null where none came. */
  readonly status: number | null;
  readonly error: string | null;
  readonly durationMs: number;
}

export class WebhookTester {
  constructor(
    private readonly deps: {
      readonly guard: SsrfGuard;
      /** For rules without their own, the newest first. */
      readonly secrets: readonly string[];
      readonly clock: Clock;
    },
  ) {}

  /** Takes as long as an attempt may. The message looks like that of an alert at the rule's threshold. */
  async test(rule: AlertRule, url: string): Promise<WebhookTrial> {
    const { guard, secrets, clock } = this.deps;
    const { id: ruleId, name: ruleName, ruleType, taskType, comparison, threshold } = rule;
    const firedAtMs = clock.now();
    const message = webhookMessage(
      {
        event: 'alert.test',
        messageId: randomUUID(),
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
