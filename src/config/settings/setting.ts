// What one setting is. The table (settings.ts) declares them; reading, help, sample file and reference derive from it.
import type { Kind } from '../kinds.ts';

/** Which commands use a setting: the daemon, `migrate`, `logs`, or every command that talks to the API. */
type Scope = 'daemon' | 'migrate' | 'logs' | 'client';

export interface Setting<V> {
  /** Command-line flag, `--redis-url`; null for what must not appear in a process list or is rarely changed. */
  readonly flag: string | null;
  /** Environment variable, `CARDPOLL_REDIS_URL`; null where only the config file makes sense. */
  readonly env: string | null;
  /** Dotted path in the config file; null for secrets. */
  readonly yaml: string | null;
  /**
   * Where the value may instead be read from a file that only its owner can read: one that is named, or a credential of
   * systemd. Only what is or may hold a secret has it.
   */
  readonly file: {
    readonly flag: string | null;
    readonly env: string;
    /** Its file in the credentials directory. */
    readonly credential: string;
  } | null;
  readonly kind: Kind<NonNullable<V>>;
  /** null: nothing unless set. */
  readonly default: V;
  /** Says what stands in for a null default, for people. */
  readonly defaultText: string;
  /** One sentence for help and documentation. */
  readonly doc: string;
  readonly scopes: readonly Scope[];
}

/** Settings that are read together, by the names their readers know them under. */
export type Section = Readonly<Record<string, Setting<unknown>>>;

/** What reading a section gives. */
export type Values<S extends Section> = {
  readonly [Name in keyof S]: S[Name] extends Setting<infer V> ? V : never;
};

type Declared<V> = Pick<Setting<V>, 'kind' | 'doc' | 'scopes'> & Partial<Setting<V>>;

const NOWHERE = { flag: null, env: null, yaml: null, file: null } as const;

/** A setting that always has a value. */
export function withDefault<V>(
  declared: Declared<V> & { readonly default: V; readonly defaultText?: string },
): Setting<V> {
  return { ...NOWHERE, defaultText: asText(declared.default), ...declared };
}

/** A setting that is null unless somebody sets it. */
export function optional<V>(
  declared: Pick<Setting<V>, 'kind' | 'doc' | 'scopes'> & Partial<Omit<Setting<V>, 'kind' | 'default'>>,
): Setting<V | null> {
  return {
    ...NOWHERE,
    defaultText: 'none',
    ...declared,
    kind: declared.kind as Kind<NonNullable<V>>,
    default: null,
  };
}

function asText(value: unknown): string {
  if (Array.isArray(value)) return value.join(',');
  if (typeof value === 'object' && value !== null && 'host' in value && 'port' in value) {
    return `${value.host}:${value.port}`;
  }
  return String(value);
}

/** How people call a setting: its place in the config file, else its variable. */
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
