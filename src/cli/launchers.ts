// What main.ts hands to the commands that run the product itself: the command line decides what to start, the
// composition root knows how. What runs until it is stopped resolves with the exit code when everything it started has ended.
import type { AdoptConfig, DaemonConfig, MigrateConfig } from '../config/daemon-config.ts';
import type { HostPort } from '../config/kinds.ts';
import type { Finding } from '../domain/finding.ts';
import type { Fleet } from '../domain/fleet.ts';

export interface DemoOptions {
  readonly listen: HostPort;
  readonly cards: number;
  /** Directory of the embedded stores, or `:memory:`. */
  readonly dataDir: string;
  /** Ends it, as SIGTERM does. */
  readonly stop: AbortSignal;
}

export interface SimulateOptions {
  readonly listen: HostPort;
  /** So many different cards exist; default: any number. */
  readonly cards?: number;
  /** Time one call takes; default 0. */
  readonly latencyMs?: number;
  /** 0 to 1: share of calls that fail; default 0. */
  readonly failureRate?: number;
  /** Calls served at a time; more are refused. Default: no limit. */
  readonly maxConcurrency?: number;
  /** Calls borne at a time; more make all of them slower. Default: any number. */
  readonly capacity?: number;
}

export type MigrateAction = 'status' | 'up';

export interface MigrateResult {
  /** Ids of the migrations applied just now. */
  readonly applied: readonly string[];
  /** All of them, in order; null: not applied; newer: by a later release. */
  readonly migrations: readonly {
    readonly id: string;
    readonly appliedAtMs: number | null;
    readonly newer: boolean;
  }[];
}

/** Whose Redis it becomes, and whose it was; null: nobody's that is known. */
export interface AdoptionPlan {
  readonly fleet: Fleet;
  readonly holder: Fleet | null;
}

/** Told the base URL once it answers there. */
export type Listening = (url: string) => void;

/** Told the base URL and the log directory of the demo once it answers. */
export type DemoLaunched = (url: string, logDir: string) => void;

export interface Launchers {
  /** @param load reads the configuration anew, for SIGHUP. */
  daemon(config: DaemonConfig, load: () => Promise<DaemonConfig>, listening: Listening): Promise<number>;
  demo(options: DemoOptions, launched: DemoLaunched): Promise<number>;
  simulate(options: SimulateOptions, listening: Listening): Promise<number>;
  /**
   * Looks at the surroundings of a daemon with this configuration.
   * @param daemonAnswers whether the daemon tells how its fleet does; else its stores are asked
   */
  doctor(config: DaemonConfig, daemonAnswers: boolean): Promise<readonly Finding[]>;
  /** @param goAhead asked with the plan where there is something to do. @returns the plan; null: it was not gone ahead with */
  adopt(config: AdoptConfig, goAhead: (plan: AdoptionPlan) => Promise<boolean>): Promise<AdoptionPlan | null>;
  /** @param onBegin called with the id of each migration before it is applied */
  migrate(
    config: MigrateConfig,
    action: MigrateAction,
    onBegin: (id: string) => void,
  ): Promise<MigrateResult>;
}
