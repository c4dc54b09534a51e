// The type of a setting. The table (settings.ts) declares them; reading, help, sample file and reference derive from it.
import { snakeCase } from '../../platform/snake-keys.ts';
import type { Kind } from '../kinds.ts';

/** Which commands use a setting: the daemon, `migrate`, `logs`, or every command that talks to the API. */
type Scope = 'daemon' | 'migrate' | 'logs' | 'client';

interface Value<V> {
  /** Command-line flag, `--redis-url`; null for values that must not appear in a process list or rarely change. */
  readonly flag: string | null;
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

export interface Setting<V> extends Value<V> {
  /** Environment variable, `CARDPOLL_REDIS_URL`; null where only the config file makes sense. */
  readonly env: string | null;
  /** Dotted path in the config file; null for secrets. */
  readonly yaml: string | null;
  /**
   * How to give the value in a file that only its owner can read: a file named by flag or variable, or a systemd credential. null
   * unless the value is a secret, or may contain one.
   */
  readonly file: {
    readonly flag: string | null;
    readonly env: string;
    /** Name of the file in the credentials directory. */
    readonly credential: string;
  } | null;
}

/** Settings that are read together, by their names in code. */
export type Section = Readonly<Record<string, Setting<unknown>>>;

/** The values of a section. */
export type Values<S extends Section> = {
  readonly [Name in keyof S]: S[Name] extends Setting<infer V> ? V : never;
};

/** A setting as the table declares it; its section determines its external names. */
interface Declared<V> extends Value<V> {
  /** Its name in snake_case; absent: derived from the name in code. */
  readonly name?: string;
  /** Absent: derived from the name. */
  readonly env?: string | null;
  /** `whole`: the value is not allowed in the config file. `part`: a URL that may contain a password. Absent: not a secret. */
  readonly secret?: 'whole' | 'part';
  /** Names a file with the secret. */
  readonly fileFlag?: string;
}

/**
 * Names the settings of a section: in `api.`, `maxConnections` is `api.max_connections` in the config file, and
 * CARDPOLL_API_MAX_CONNECTIONS as a variable.
 * @param path prefix in the config file, `api.`. @param variables prefix after CARDPOLL_, `API_`; null: no variables.
 */
export function section<D extends Readonly<Record<string, Declared<unknown>>>>(
  path: string,
  variables: string | null,
  settings: D,
): { readonly [Name in keyof D]: D[Name] extends Declared<infer V> ? Setting<V> : never } {
  const named = Object.entries(settings).map(
    ([key, { name = snakeCase(key), secret, fileFlag, ...setting }]) => {
      const usual = variables === null ? null : `CARDPOLL_${variables}${name.toUpperCase()}`;
      const { env = usual, ...value } = setting;
      const file = { flag: fileFlag ?? null, env: `${env}_FILE`, credential: path + name };
      return [
        key,
        {
          ...value,
          env,
          yaml: secret === 'whole' ? null : path + name,
          file: secret === undefined ? null : file,
        },
      ];
    },
  );
  return Object.fromEntries(named);
}

/** Defaults of a declaration. */
const USUAL = { flag: null, scopes: ['daemon'] } as const;

/** A setting that always has a value. */
export function withDefault<V>(
  declared: Pick<Declared<V>, 'kind' | 'default' | 'doc'> & Partial<Declared<V>>,
): Declared<V> {
  return { ...USUAL, defaultText: asText(declared.default), ...declared };
}

/** A setting that is null unless it is set. */
export function optional<V>(
  declared: Pick<Declared<V>, 'kind' | 'doc'> & Partial<Omit<Declared<V>, 'kind' | 'default'>>,
): Declared<V | null> {
  return {
    ...USUAL,
    defaultText: 'none',
    ...declared,
    kind: declared.kind as Kind<NonNullable<V>>,
    default: null,
  };
}

/** A secret that is null unless it is set, and is not allowed in the config file. */
export function secret(kind: Kind<string>, doc: string): Declared<string | null> {
  return optional({ secret: 'whole', kind, doc });
}

function asText(value: unknown): string {
  if (Array.isArray(value)) return value.join(',') || 'none';
  if (typeof value === 'boolean') return value ? 'on' : 'off';
  if (typeof value === 'object' && value !== null && 'host' in value && 'port' in value) {
    return `${value.host}:${value.port}`;
  }
  return String(value);
}

/** The name of a setting in messages: its key in the config file, otherwise its variable, otherwise its flag. */
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
