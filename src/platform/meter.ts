// The counts and durations of an instance's work, for its metrics. The engine and the gateway report them;
// api/metrics/instruments.ts records them.

export const WEBHOOK_OUTCOMES = ['delivered', 'retried', 'failed', 'stopped'] as const;
/** Outcome of an attempt: retried will be tried again, failed is given up, stopped was interrupted. */
export type WebhookOutcome = (typeof WEBHOOK_OUTCOMES)[number];

export const RESULTS = ['succeeded', 'failed'] as const;
export type Result = (typeof RESULTS)[number];

export interface Meter {
  /** @param lateMs time between when a scheduled card was due and when it was claimed. */
  claimedLate(taskType: string, lateMs: number): void;
  poll(taskType: string, result: Result, durationMs: number): void;
  gatewayCall(interfaceName: string, result: Result, durationMs: number): void;
  webhookAttempt(outcome: WebhookOutcome): void;
  /** A reading of usage had grown by more than a card can transfer. */
  implausibleReading(): void;
}

/** What an instance took from the work queue and gave back, of one task type, since its start. */
export interface WorkTotals {
  readonly taskType: string;
  /** By lane. */
  readonly claimed: Readonly<Record<string, number>>;
  /** By verdict. */
  readonly settled: Readonly<Record<string, number>>;
  /** Results that came after their lease had ended and were dropped; `settled` includes them. */
  readonly fenced: number;
}
