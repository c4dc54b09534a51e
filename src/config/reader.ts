// Finds the value of each setting: flag > environment > systemd credential > secret_files > config file >
// profile of the gateway > default. Collects every problem instead of
// stopping at the first; `finish` throws them together.
import { existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { CardpollError, type ErrorKind, type FieldProblem, unreadableText } from '../platform/errors.ts';
import { readSmallFile } from '../platform/small-file.ts';
import { type ConfigFile, type FileValue, NO_FILE, readConfigFile } from './config-file.ts';
import {
  badConfigRights,
  changeableByAnotherUser,
  effectiveUser,
  openToOthers,
  presence,
} from './file-rights.ts';
import { readProfile, underConfigFile } from './gateway/profile.ts';
import { BadValue } from './kinds.ts';
import { insteadOfVariable } from './settings/gone.ts';
import { nameOf, type Section, type Setting, type Values, waysToSet } from './settings/setting.ts';
import { ALL_SETTINGS, CONFIG_FILE, SECRET_FILES, SETTINGS } from './settings/settings.ts';
import { didYouMean } from './suggest.ts';

/** The sources of settings other than the config file. */
export interface ConfigInputs {
  /** Values by flag, `--redis-url`. */
  readonly flags: Readonly<Record<string, string | undefined>>;
  readonly env: Readonly<Record<string, string | undefined>>;
}

const ENV_PREFIX = 'CARDPOLL_';
/** Dotted paths of all settings that are allowed in a file. */
const KEYS = ALL_SETTINGS.map(({ yaml }) => yaml).filter((yaml) => yaml !== null);

export class SettingReader {
  readonly #problems: FieldProblem[];
  /** The kind of each problem, by its message; `config` when missing. */
  readonly #kinds = new Map<FieldProblem, ErrorKind>();
  readonly #unusable = new Set<Setting<unknown>>();
  #profile: ConfigFile['values'] = NO_FILE.values;

  private constructor(
    private readonly inputs: ConfigInputs,
    private readonly file: ConfigFile,
  ) {
    this.#problems = [...file.problems, ...unknownVariables(inputs.env)];
  }

  static async open(inputs: ConfigInputs): Promise<SettingReader> {
    const path = inputs.flags['--config'] ?? nonEmpty(inputs.env[CONFIG_FILE.env ?? '']) ?? null;
    if (path === null) return new SettingReader(inputs, NO_FILE);
    const file = await readConfigFile(path, KEYS);
    const badRights = badConfigRights(path, file);
    const problems = badRights === null ? [] : [{ field: 'config', message: `config file: ${badRights}` }];
    return new SettingReader(inputs, trusted(path, { ...file, problems: [...file.problems, ...problems] }));
  }

  /** Also reads the profile of the gateway, which only a daemon and its gateway need. */
  static async openWithProfile(inputs: ConfigInputs): Promise<SettingReader> {
    const reader = await SettingReader.open(inputs);
    const setting = SETTINGS.gateway.profile;
    const profile = await readProfile(reader.read(setting), reader.directoryFor(setting), KEYS);
    reader.#profile = underConfigFile(profile, reader.file);
    reader.#problems.push(...profile.problems);
    return reader;
  }

  /** The effective value. It is the default when the given value is wrong; then `finish` throws. */
  read<V>(setting: Setting<V>): V {
    return this.#parse(setting, this.#find(setting));
  }

  /** Source of the value: the name of a flag, a variable or a file. null: unset. */
  originOf(setting: Setting<unknown>): string | null {
    return this.#find(setting)?.origin ?? null;
  }

  /** The effective values of a section. */
  readAll<S extends Section>(section: S): Values<S> {
    const values = Object.entries(section).map(([name, setting]) => [name, this.read(setting)]);
    return Object.fromEntries(values) as Values<S>;
  }

  /** Reads a secret from a file. @param origin source of the file name, for messages. */
  readFile<V>(setting: Setting<V>, path: string, origin: string): V {
    return this.#parse(setting, this.#readSecret(setting, path, origin));
  }

  #parse<V>(setting: Setting<V>, found: FileValue | null): V {
    if (found === null) return setting.default;
    try {
      return setting.kind.parse(found.raw);
    } catch (error) {
      if (!(error instanceof BadValue)) throw error;
      const typed = found.origin === setting.flag && isForClients(setting);
      this.#refuse(setting, `${found.origin}: ${error.message}`, typed ? 'usage' : 'config');
      return setting.default;
    }
  }

  /** True when some source gives the setting, valid or not. */
  isSet(setting: Setting<unknown>): boolean {
    return this.#find(setting) !== null || this.#unusable.has(setting);
  }

  /** Also false when the config file may set it, but cannot be read. */
  isMissing(setting: Setting<unknown>): boolean {
    return this.file.isReadable && !this.isSet(setting);
  }

  /** Base of a relative path: the directory of the file that sets the setting. */
  directoryFor(setting: Setting<unknown>): string {
    return this.#find(setting)?.directory ?? process.cwd();
  }

  /** True when the given value was refused, so that rules about it would only repeat the problem. */
  isUnusable(setting: Setting<unknown>): boolean {
    return this.#unusable.has(setting);
  }

  get hasProblems(): boolean {
    return this.#problems.length > 0;
  }

  /** Reports a problem between readable settings, at one of them. */
  report(setting: Setting<unknown>, message: string): void {
    this.#problems.push({ field: nameOf(setting), message });
  }

  /** Reports a problem between settings below the field, at the first of their lines in the config file or the profile. */
  reportBelow(field: string, message: string): void {
    const given = [...this.file.values, ...this.#profile].find(([key]) => `${key}.`.startsWith(`${field}.`));
    const line = /^.+:\d+ /.exec(given?.[1].origin ?? '')?.[0] ?? '';
    this.#problems.push({ field, message: `${line}${field}: ${message}` });
  }

  /**
   * @returns the configuration, which cannot be changed any more.
   * @throws CardpollError that lists all problems, if there are any: kind `config`, unless all are wrong flags of a client
   * command (`usage`) or missing files (`input_missing`).
   */
  finish<T>(config: T): T {
    if (this.#problems.length === 0) return deepFreeze(config);
    const lines = this.#problems.map(({ message }) => message);
    const message =
      lines.length === 1
        ? lines[0]
        : `${lines.length} problems:${lines.map((line) => `\n  ${line}`).join('')}`;
    const kinds = new Set(this.#problems.map((problem) => this.#kinds.get(problem) ?? 'config'));
    const [kind = 'config'] = kinds.size === 1 ? kinds : [];
    const shown = kind === 'config' ? `configuration: ${message}` : `${message}`;
    throw new CardpollError(kind, 'config_invalid', shown, { fields: this.#problems });
  }

  #find(setting: Setting<unknown>): FileValue | null {
    const { flags, env } = this.inputs;
    const fromFlag = (flag: string | null | undefined) => (flag ? flags[flag] : undefined);
    const direct = fromFlag(setting.flag);
    if (direct !== undefined && setting.flag !== null) return { raw: direct, origin: setting.flag };
    const file = fromFlag(setting.file?.flag);
    if (file !== undefined) return this.#readSecret(setting, file, setting.file?.flag ?? '');
    const variable = setting.env === null ? undefined : nonEmpty(env[setting.env]);
    const fileVariable = setting.file === null ? undefined : nonEmpty(env[setting.file.env]);
    if (variable !== undefined && fileVariable !== undefined) {
      this.#refuse(setting, `${setting.env} and ${setting.file?.env} are both set; keep one`);
      return null;
    }
    if (variable !== undefined) return { raw: variable, origin: setting.env ?? '' };
    if (fileVariable !== undefined) return this.#readSecret(setting, fileVariable, setting.file?.env ?? '');
    const credential = this.#credentialPath(setting);
    if (credential !== null) return this.#readSecret(setting, credential, 'systemd credential');
    const secret = this.#secretFile(setting);
    if (secret !== null) return this.#readSecret(setting, secret, SECRET_FILES.yaml ?? '');
    if (setting.yaml === null || this.#unusable.has(setting)) return null;
    return this.file.values.get(setting.yaml) ?? this.#profile.get(setting.yaml) ?? null;
  }

  /** null when systemd gave this process no such credential. */
  #credentialPath(setting: Setting<unknown>): string | null {
    const directory = nonEmpty(this.inputs.env.CREDENTIALS_DIRECTORY);
    if (directory === undefined || setting.file === null) return null;
    const path = join(directory, setting.file.credential);
    return existsSync(path) ? path : null;
  }

  /**
   * The file that systemd would give to the unit. If systemd did give this process credentials, only those count. null: no such
   * file, or its existence is unknown; the setting is then refused, since the unit may run with another value.
   */
  #secretFile(setting: Setting<unknown>): string | null {
    if (setting.file === null || isForClients(setting)) return null;
    if (nonEmpty(this.inputs.env.CREDENTIALS_DIRECTORY) !== undefined) return null;
    for (const pattern of this.read(SECRET_FILES)) {
      const path = pattern.replace('*', setting.file.credential);
      const found = presence(path);
      if (found === 'present') return path;
      if (found === 'hidden') return this.#refuseHidden(setting, dirname(path));
      const encrypted = join(`${dirname(path)}.encrypted`, basename(path));
      const foundEncrypted = presence(encrypted);
      if (foundEncrypted === 'hidden') return this.#refuseHidden(setting, dirname(encrypted));
      if (foundEncrypted === 'present') {
        const only = `only its unit can read ${encrypted}, which is encrypted`;
        this.#refuse(setting, `secret_files: ${only}; give this command ${waysToSet(setting)}`);
      }
    }
    return null;
  }

  /** Once for all secrets of a directory. */
  #refuseHidden(setting: Setting<unknown>, directory: string): null {
    this.#unusable.add(setting);
    const message = `secret_files: no permission to look into ${directory}; run this command with sudo`;
    if (!this.#problems.some((problem) => problem.message === message))
      this.#problems.push({ field: 'secret_files', message });
    return null;
  }

  #readSecret(setting: Setting<unknown>, path: string, origin: string): FileValue | null {
    try {
      const open = openToOthers(path);
      if (open !== null) {
        this.#refuse(setting, `${origin}: ${open}`);
        return null;
      }
      return { raw: readSmallFile(path).trim(), origin: `${origin} (${path})` };
    } catch (error) {
      const missing = (error as NodeJS.ErrnoException).code === 'ENOENT' && isForClients(setting);
      this.#refuse(
        setting,
        `${origin}: ${unreadableText(path, error)}`,
        missing ? 'input_missing' : 'config',
      );
      return null;
    }
  }

  #refuse(setting: Setting<unknown>, message: string, kind: ErrorKind = 'config'): void {
    if (this.#unusable.has(setting)) return;
    this.#unusable.add(setting);
    const problem = { field: nameOf(setting), message };
    this.#problems.push(problem);
    this.#kinds.set(problem, kind);
  }
}

/** The config file without `secret_files`, and with a problem instead, if another user can write it. */
function trusted(path: string, file: ConfigFile): ConfigFile {
  const named = file.values.get(SECRET_FILES.yaml ?? '');
  if (named === undefined || file.rights === undefined) return file;
  const open = changeableByAnotherUser(path, file.rights, effectiveUser());
  if (open === null) return file;
  const values = new Map([...file.values].filter(([, value]) => value !== named));
  return {
    ...file,
    values,
    problems: [...file.problems, { field: 'secret_files', message: `secret_files: ${open}` }],
  };
}

/** For a daemon every wrong value is a wrong configuration; for a client command a wrong flag is wrong usage. */
function isForClients({ scopes }: Setting<unknown>): boolean {
  return scopes.every((scope) => scope === 'client');
}

function nonEmpty(value: string | undefined): string | undefined {
  return value === '' ? undefined : value;
}

function unknownVariables(env: ConfigInputs['env']): FieldProblem[] {
  const known = ALL_SETTINGS.flatMap((setting) => [setting.env, setting.file?.env ?? null]).filter(
    (name) => name !== null,
  );
  return Object.keys(env)
    .filter((name) => name.startsWith(ENV_PREFIX) && !known.includes(name))
    .map((name) => {
      const instead = insteadOfVariable(name.slice(ENV_PREFIX.length));
      const unknown = `unknown environment variable ${name}${didYouMean(name, known)}`;
      return { field: name, message: instead === undefined ? unknown : `${name} is gone: ${instead}` };
    });
}

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const part of Object.values(value)) deepFreeze(part);
  }
  return value;
}
