// What an engine is built from: settings as plain values, and what it works with. Filled in by wiring; the parts of the
// engine take what they need of it.
import type { FlowControl, Gateway } from '../gateway/gateway.ts';
import type { Clock } from '../platform/clock.ts';
import type { Logger } from '../platform/logger.ts';
import type { Meter } from '../platform/meter.ts';
import type { SsrfGuard } from '../platform/ssrf-guard.ts';
import type { AuditTrail } from '../store/ports/audit-trail.ts';
import type { LiveStore } from '../store/ports/live-store.ts';
import type { RecordStore } from '../store/ports/record-store.ts';
import type { AuditDigest } from './audit-digest.ts';

export interface EngineSettings {
  readonly workerId: string;
  readonly hostname: string;
  readonly pid: number;
  readonly version: string;
  readonly roles: readonly string[];
  readonly timeZone: string;
  readonly leaseMs: number;
  readonly claimBatch: number;
  readonly queueCap: number;
  /** The leader lowers limits that the gateway cannot take. */
  readonly adaptiveConcurrency: boolean;
  /** Calls the gateway may get from all task types together; null: no ceiling. */
  readonly gatewayMaxConcurrency: number | null;
  /** Results that may wait for the stores before claiming stops. */
  readonly writeBuffer: number;
  readonly retryBaseMs: number;
  readonly cardCacheTtlMs: number;
  readonly initBatchCards: number;
  readonly initPauseMs: number;
  readonly drainTimeoutMs: number;
  readonly alertIntervalMs: number;
  /** Sign the webhooks of rules without their own, the newest first; none: they are not signed. */
  readonly webhookSecrets: readonly string[];
  /** Cron expression, or `off`. */
  readonly cleanupSchedule: string;
  /** Rest between two batches. */
  readonly cleanupPauseMs: number;
}

export interface EngineDeps {
  readonly live: LiveStore;
  readonly records: RecordStore;
  readonly gateway: Gateway;
  /** host:port where this instance answers probes; null while it does not listen. */
  readonly probeAddress: () => string | null;
  readonly flow: FlowControl;
  readonly meter: Meter;
  /** Judges where webhooks may go. */
  readonly guard: SsrfGuard;
  /** Records what the daemon does by itself. */
  readonly audit: Pick<AuditTrail, 'change' | 'tell'>;
  readonly digest: Pick<AuditDigest, 'note'>;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Logger;
}
