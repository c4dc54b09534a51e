// What one setting is. The table (settings.ts) declares them; reading, help, sample file and reference derive from it.
import type { Kind } from '../kinds.ts';

/** Which commands use a setting: the daemon, `migrate`, `logs`, or every command that talks to the API. */
type Scope = 'daemon' | 'migrate' | 'logs' | 'client';

export interface Setting<V> {
  /** Command-line flag, `--redis-url`; null for values that must not appear in a process list or rarely change. */
  readonly flag: string | null;
  /** Environment variable, `CARDPOLL_REDIS_URL`; null where only the config file makes sense. */
  readonly env: string | null;
  /** Dotted path in the config file; null for secrets. */
  readonly yaml: string | null;
  /**
   * How to give the value in a file that only its owner can read: a file named by flag or variable, or a systemd
   * credential. null unless the value is or may hold a secret.
   */
  readonly file: {
    readonly flag: string | null;
    readonly env: string;
    /** Name of the file in the credentials directory. */
    readonly credential: string;
  } | null;
  readonly kind: Kind<NonNullable<V>>;
  /** null: unset by default. */
  readonly default: V;
  /** The default in words, as help and documentation show it. */
  readonly defaultText: string;
  /** One sentence for help and documentation. */
  readonly doc: string;
  /** The daemon, unless the table says otherwise. */
  readonly scopes: readonly Scope[];
}

/** Settings that are read together, by the names that code uses. */
export type Section = Readonly<Record<string, Setting<unknown>>>;

/** The values of a section. */
export type Values<S extends Section> = {
  readonly [Name in keyof S]: S[Name] extends Setting<infer V> ? V : never;
};

type Declared<V> = Pick<Setting<V>, 'kind' | 'doc'> & Partial<Setting<V>>;

/** What a setting has unless it says otherwise. */
const USUAL = { flag: null, env: null, yaml: null, file: null, scopes: ['daemon'] } as const;

/** A setting that always has a value. */
export function withDefault<V>(
  declared: Declared<V> & { readonly default: V; readonly defaultText?: string },
): Setting<V> {
  return { ...USUAL, defaultText: asText(declared.default), ...declared };
}

/** A setting that is null unless it is set. */
export function optional<V>(
  declared: Pick<Setting<V>, 'kind' | 'doc'> & Partial<Omit<Setting<V>, 'kind' | 'default'>>,
): Setting<V | null> {
  return {
    ...USUAL,
    defaultText: 'none',
    ...declared,
    kind: declared.kind as Kind<NonNullable<V>>,
    default: null,
  };
}

function asText(value: unknown): string {
  if (Array.isArray(value)) return value.join(',') || 'none';
  if (typeof value === 'boolean') return value ? 'on' : 'off';
  if (typeof value === 'object' && value !== null && 'host' in value && 'port' in value) {
    return `${value.host}:${value.port}`;
  }
  return String(value);
}

/** The name of a setting in messages: its key in the config file, else its variable, else its flag. */
export function nameOf(setting: Setting<unknown>): string {
  return setting.yaml ?? setting.env ?? setting.flag ?? 'setting';
}

/** Every way to give a setting, for messages: `--gateway-url, CARDPOLL_GATEWAY_URL or gateway.url in the config file`. */
export function waysToSet(setting: Setting<unknown>): string {
  const ways = [
    setting.flag,
    setting.file?.flag,
    setting.env,
    setting.file?.env,
    setting.yaml === null ? null : `${setting.yaml} in the config file`,
  ].filter((way) => way !== null && way !== undefined);
  const last = ways.pop() ?? '';
  return ways.length === 0 ? last : `${ways.join(', ')} or ${last}`;
}
