// The counts and durations of an instance's work, for its metrics. The engine and the gateway report them;
// api/metrics/instruments.ts records them.

export const WEBHOOK_OUTCOMES = ['delivered', 'retried', 'failed', 'stopped'] as const;
/** Outcome of an attempt: retried will be tried again, failed is final, stopped was interrupted. */
export type WebhookOutcome = (typeof WEBHOOK_OUTCOMES)[number];

/** Where work waited before an instance claimed it. */
export const LANES = ['schedule', 'retry', 'manual'] as const;
/** Outcome of claimed work when it is settled. */
export const VERDICTS = ['done', 'failed', 'returned', 'early'] as const;

export const RESULTS = ['succeeded', 'failed'] as const;
export type Result = (typeof RESULTS)[number];

interface WorkClaim {
  readonly items: ReadonlyArray<{ readonly lane: string }>;
  readonly lateMs: readonly number[];
}

export interface Meter {
  /** @param claim `lateMs`: how long each scheduled card had been due when it was claimed. */
  claimed(taskType: string, claim: WorkClaim): void;
  /** @param fenced number of items that came after their lease had ended and were dropped. */
  settled(taskType: string, work: ReadonlyArray<{ readonly verdict: string }>, fenced: number): void;
  poll(taskType: string, result: Result, durationMs: number): void;
  gatewayCall(interfaceName: string, result: Result, durationMs: number): void;
  webhookAttempt(outcome: WebhookOutcome): void;
  /** A reading of usage had grown by more than a card can transfer. */
  implausibleReading(): void;
}
