// The settings of the engine: sections of the configuration, and its collaborators. Filled in by wiring. Each service of the
// engine takes the settings that it needs, under the names of the settings table.
import type { DaemonConfig } from '../config/daemon-config.ts';
import type { Fleet } from '../domain/fleet.ts';
import type { GatewayFacts } from '../domain/limits/rate-limit.ts';
import type { AccessWatch, FlowControl, Gateway } from '../gateway/gateway.ts';
import type { FleetHealth } from '../health/fleet-health.ts';
import type { Presence } from '../health/presence.ts';
import type { Clock } from '../platform/clock.ts';
import type { Logger } from '../platform/logger.ts';
import type { Meter } from '../platform/meter.ts';
import type { SsrfGuard } from '../platform/ssrf-guard.ts';
import type { InstanceInfo } from '../store/ports/live/coordination.ts';
import type { LiveStore } from '../store/ports/live/live-store.ts';
import type { AuditTrail } from '../store/ports/records/audit-trail.ts';
import type { RecordStore } from '../store/ports/records/record-store.ts';
import type { AuditDigest } from './audit-digest.ts';
import type { CallPace } from './limits/call-pace.ts';
import type { LoadReading } from './stats/own-load.ts';

type Sections = Pick<
  DaemonConfig,
  'roles' | 'timeZone' | 'polling' | 'usage' | 'stops' | 'alerts' | 'webhooks' | 'cleanup'
>;

export interface EngineSettings extends Sections {
  readonly gateway: Pick<DaemonConfig['gateway'], 'maxConcurrency'>;
  readonly instanceId: string;
  readonly hostname: string;
  readonly pid: number;
  readonly version: string;
}

export interface EngineDeps extends GatewayFacts {
  readonly live: LiveStore;
  readonly records: RecordStore;
  readonly fleet: Fleet;
  readonly gateway: Gateway & FlowControl & AccessWatch;
  /** Absent without a rate limit. */
  readonly pace?: CallPace | null;
  /** host:port where this instance answers probes; null while it does not listen. */
  readonly probeAddress: () => string | null;
  readonly reloadFailure: () => InstanceInfo['reloadFailure'];
  readonly logTrouble: () => InstanceInfo['logTrouble'];
  /** An absolute path; null: standard output. */
  readonly logDir?: string | null;
  /** The processor time that this process gets. */
  readonly load: () => LoadReading;
  readonly meter: Meter;
  /** Decides which addresses webhooks may be sent to. */
  readonly guard: SsrfGuard;
  readonly health: Pick<FleetHealth, 'conditions' | 'brokenPromise'>;
  readonly presence: Presence;
  /** Records changes that the daemon makes itself. */
  readonly audit: Pick<AuditTrail, 'change' | 'log'>;
  readonly digest: Pick<AuditDigest, 'note'>;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Logger;
}
