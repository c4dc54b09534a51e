// What an instance counts and times while it works, for its metrics. The engine and the gateway report to it; what becomes
// of it is api/metrics/instruments.ts.

export const WEBHOOK_OUTCOMES = ['delivered', 'retried', 'failed', 'stopped'] as const;
/** What became of an attempt: retried is to be tried again, failed is given up, stopped was broken off. */
export type WebhookOutcome = (typeof WEBHOOK_OUTCOMES)[number];

export const RESULTS = ['succeeded', 'failed'] as const;
export type Result = (typeof RESULTS)[number];

export interface Meter {
  /** @param lateMs how long a scheduled card had been due when it was claimed. */
  claimedLate(taskType: string, lateMs: number): void;
  poll(taskType: string, result: Result, durationMs: number): void;
  gatewayCall(interfaceName: string, result: Result, durationMs: number): void;
  webhookAttempt(outcome: WebhookOutcome): void;
}
