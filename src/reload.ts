// Reloads the configuration of a running daemon on SIGHUP: reads all settings again, applies those that can change while
// it runs, and logs those that need a restart. An invalid configuration changes nothing. Built by wiring.ts, which knows
// how to apply settings.

import { hostname } from 'node:os';
import { isDeepStrictEqual } from 'node:util';
import type { DaemonConfig } from './config/daemon-config.ts';
import { ALL_SETTINGS, SETTINGS } from './config/settings/settings.ts';
import type { AuditChange } from './domain/audit.ts';
import type { GatewayCredentials } from './domain/gateway/gateway-config.ts';
import type { Clock } from './platform/clock.ts';
import { CardpollError, messageOf } from './platform/errors.ts';
import { isObject } from './platform/json.ts';
import type { Logger } from './platform/logger.ts';
import { snakeCase } from './platform/snake-keys.ts';

/** The settings that may change while the daemon runs. */
export interface LiveSettings extends Pick<DaemonConfig, (typeof TOP_LEVEL)[number]> {
  readonly gatewayCredentials: GatewayCredentials;
}

const TOP_LEVEL = ['logLevel', 'adminTokens', 'rateLimitPerMinute', 'tls'] as const;
const CREDENTIALS = [...Object.keys(SETTINGS.credentials), 'tls'] as ReadonlyArray<keyof GatewayCredentials>;
/** Names of settings. A secret has no key in the config file, so the name of its credential counts. */
const KEYS = ALL_SETTINGS.map(({ yaml, file }) => yaml ?? file?.credential).filter(
  (key) => key !== undefined,
);
const LIVE = [...TOP_LEVEL, 'gatewayCredentials'] as const;

interface ReloaderDeps {
  /** The settings at the start. */
  readonly config: DaemonConfig;
  /** Reads the configuration again. @throws CardpollError `config`. */
  readonly load: () => Promise<DaemonConfig>;
  /** Applies settings, or throws and changes nothing. */
  readonly apply: (settings: LiveSettings) => void;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Pick<Logger, 'info' | 'warn' | 'error'>;
  /** Called with the changes, for the audit trail. */
  readonly onChange: (change: AuditChange) => void;
}

export class Reloader {
  #config: DaemonConfig;
  #last: Promise<void> = Promise.resolve();
  #failure: { readonly sinceMs: number; readonly reason: string } | null = null;

  constructor(private readonly deps: ReloaderDeps) {
    this.#config = deps.config;
  }

  /** The current settings. */
  get config(): DaemonConfig {
    return this.#config;
  }

  /** The first failure since the last successful reload; null: the last reload succeeded. */
  get failure(): { readonly sinceMs: number; readonly reason: string } | null {
    return this.#failure;
  }

  /** Runs one reload after the other. Never throws: a failure is logged. */
  reload(): Promise<void> {
    this.#last = this.#last.then(() => this.#reloadOnce());
    return this.#last;
  }

  async #reloadOnce(): Promise<void> {
    const { load, apply, log, onChange, clock } = this.deps;
    try {
      const config = await load();
      const before = liveSettings(this.#config, this.#config);
      const after = liveSettings(config, this.#config);
      const live = LIVE.filter((name) => !isDeepStrictEqual(before[name], after[name]));
      apply(after);
      const { gatewayCredentials, ...topLevel } = after;
      const gateway = { ...this.#config.gateway, ...gatewayCredentials };
      this.#config = { ...this.#config, ...topLevel, gateway };
      this.#failure = null;
      log.info({ changed: live.map(snakeCase) }, 'configuration reloaded');
      if (live.length > 0) {
        const [from, to] = [before, after].map((one) => traceOf(live, one));
        onChange({ action: 'config.reload', object: `instance ${hostname()}`, before: from, after: to });
      }
      const waiting = changedSettings(this.#config, config);
      if (waiting.length > 0) log.warn({ settings: waiting }, 'changed settings that need a restart');
    } catch (error) {
      const hint = error instanceof CardpollError ? error.hint : undefined;
      const reason = messageOf(error);
      this.#failure = { sinceMs: this.#failure?.sinceMs ?? clock.now(), reason };
      log.error({ reason, hint }, 'configuration not reloaded, the present one stays in force');
    }
  }
}

/** Credentials belong to `gateway.auth`: when that changes, they wait for the restart, too. */
function liveSettings(config: DaemonConfig, present: DaemonConfig): LiveSettings {
  const { gateway } = isDeepStrictEqual(config.gateway.auth, present.gateway.auth) ? config : present;
  return { ...pick(config, TOP_LEVEL), gatewayCredentials: pick(gateway, CREDENTIALS) };
}

function pick<T, K extends keyof T>(from: T, names: readonly K[]): Pick<T, K> {
  return Object.fromEntries(names.map((name) => [name, from[name]])) as Pick<T, K>;
}

/** The settings as the audit trail may show them: the names of tokens, and no value that may be a secret. */
function traceOf(names: readonly (keyof LiveSettings)[], settings: LiveSettings): Record<string, unknown> {
  const shown: Partial<Record<keyof LiveSettings, unknown>> = {
    logLevel: settings.logLevel,
    rateLimitPerMinute: settings.rateLimitPerMinute,
    adminTokens: settings.adminTokens.map(({ name, role }) => ({ name, role })),
  };
  return Object.fromEntries(names.map((name) => [name, shown[name] ?? 'not shown']));
}

/** Keys of the settings that differ, as operators write them, without values, since some are secrets. */
function changedSettings(before: DaemonConfig, after: DaemonConfig): string[] {
  return [...new Set(changedPaths(before, after).flatMap((path) => keyOf(path) ?? []))];
}

function changedPaths(before: object, after: object, path = ''): string[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].flatMap((name) => {
    const [from, to] = [before, after].map((config) => (config as Record<string, unknown>)[name] ?? null);
    if (isDeepStrictEqual(from, to)) return [];
    const here = path + snakeCase(name);
    const areObjects = [from, to].every((one) => one === null || isObject(one));
    return areObjects ? changedPaths(from ?? {}, to ?? {}, `${here}.`) : [here];
  });
}

/** The setting at or above a path of the configuration; undefined: the value is derived from other settings. */
function keyOf(path: string): string | undefined {
  const key = path
    .replace(/^stores\./, '')
    .replace(/^(redis_|gateway\.)tls\.(pair\.)?/, '$1tls_')
    .replace('.reading.', '.')
    .replace('webhooks.secrets', 'webhooks.secret');
  return KEYS.find((one) => `${key}.`.startsWith(`${one}.`));
}
