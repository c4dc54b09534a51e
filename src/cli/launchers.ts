// Functions of main.ts for the commands that run the product itself: the command line decides what to start, and the composition
// root starts it. A launcher that runs until it is stopped resolves with the exit code when everything it started has ended.

import type { AdoptConfig, DaemonConfig, MigrateConfig } from '../config/daemon-config.ts';
import type { HostPort } from '../config/kinds.ts';
import type { Card } from '../domain/cards/card.ts';
import type { Finding } from '../domain/finding.ts';
import type { Fleet } from '../domain/fleet.ts';
import type { CallTrial } from '../domain/gateway/call-trial.ts';
import type { SimulatedBehaviour } from '../domain/gateway/simulated-behaviour.ts';
import type { InterfaceName } from '../domain/gateway-interface.ts';

export interface DemoOptions {
  readonly listen: HostPort;
  readonly cards: number;
  /** Directory of the embedded stores, or `:memory:`. */
  readonly dataDir: string;
  /** Stops the demo, as SIGTERM does. */
  readonly stop: AbortSignal;
}

export interface SimulateOptions extends SimulatedBehaviour {
  readonly listen: HostPort;
}

export type MigrateAction = 'status' | 'up';

export interface MigrateResult {
  /** Ids of the migrations applied just now. */
  readonly applied: readonly string[];
  /** All migrations, in order. `appliedAtMs` null: not applied; `newer`: applied by a later release. */
  readonly migrations: readonly {
    readonly id: string;
    readonly appliedAtMs: number | null;
    readonly newer: boolean;
  }[];
}

/** The new and the current fleet of a Redis; `holder` null: none, or unknown. */
export interface AdoptionPlan {
  readonly fleet: Fleet;
  readonly holder: Fleet | null;
}

/** Called with the base URL once the server answers there. */
export type Listening = (url: string) => void;

/** Called when the daemon has opened its port. null: it opens no port. */
export type DaemonListening = (url: string | null) => void;

/** Called with the base URL and the log directory of the demo once it answers. */
export type DemoLaunched = (url: string, logDir: string) => void;

export interface Launchers {
  /** @param load reads the configuration again, for SIGHUP. */
  daemon(
    config: DaemonConfig,
    load: () => Promise<DaemonConfig>,
    listening: DaemonListening,
  ): Promise<number>;
  demo(options: DemoOptions, launched: DemoLaunched): Promise<number>;
  /** Calls the interfaces for one card, one after the other; null: all that read something. */
  tryGateway(
    config: Pick<DaemonConfig, 'gateway' | 'proxies' | 'timeZone'>,
    card: Pick<Card, 'iccid' | 'cardId' | 'carrierId' | 'vendorId'>,
    only: InterfaceName | null,
  ): Promise<readonly CallTrial[]>;
  simulate(options: SimulateOptions, listening: Listening): Promise<number>;
  /**
   * Checks the surroundings of a daemon with this configuration.
   * @param daemonAnswers whether the daemon reports the health of its fleet; otherwise its stores are read
   */
  doctor(config: DaemonConfig, daemonAnswers: boolean): Promise<readonly Finding[]>;
  /** @param goAhead confirms the plan, if there is something to do. @returns the plan. Throws the error of `goAhead`. */
  adopt(config: AdoptConfig, goAhead: (plan: AdoptionPlan) => Promise<void>): Promise<AdoptionPlan>;
  /** @param onBegin called with the id of each migration before it is applied */
  migrate(
    config: MigrateConfig,
    action: MigrateAction,
    onBegin: (id: string) => void,
  ): Promise<MigrateResult>;
}
