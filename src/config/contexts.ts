// Contexts: named daemons, in $XDG_CONFIG_HOME/cardpoll/contexts.yaml. Read for every client command without --url; written only
// by `cardpoll context`. Contains paths of token files, never a token.
import { rename, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { makeDirectory } from '../platform/directory.ts';
import { CardpollError, messageOf } from '../platform/errors.ts';
import { isObject } from '../platform/json.ts';
import { readSmallFile } from '../platform/small-file.ts';
import { BASE_URL, formed, parseOr } from './kinds.ts';

export interface Context {
  readonly name: string;
  /** Base URL without a trailing slash. */
  readonly url: string;
  readonly tokenFile: string | null;
}

export interface Contexts {
  /** Name of the context in use; null: none. */
  readonly current: string | null;
  readonly all: readonly Context[];
}

type Environment = Readonly<Record<string, string | undefined>>;

const NAME_RULE = 'letters, digits, . _ and -, at most 64';
const NAME = /^[\w][\w.-]{0,63}$/;

/** A name that needs no quotes in YAML or a shell. */
export const CONTEXT_NAME = formed(NAME_RULE, NAME, `is not a context name: ${NAME_RULE}`);

function contextsPath(env: Environment): string {
  const home = env.XDG_CONFIG_HOME || join(env.HOME || homedir(), '.config');
  return join(home, 'cardpoll', 'contexts.yaml');
}

/** No contexts when the file is missing. Throws `config` for a file that cannot be read or has another content. */
export async function readContexts(env: Environment): Promise<Contexts> {
  const path = contextsPath(env);
  let text: string;
  try {
    text = readSmallFile(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { current: null, all: [] };
    throw unusable(path, messageOf(error));
  }
  try {
    const { parse } = await import('yaml');
    return toContexts(parse(text));
  } catch (error) {
    throw unusable(path, messageOf(error));
  }
}

/** Replaces the file atomically; only its owner can read it. */
export async function writeContexts(env: Environment, { current, all }: Contexts): Promise<void> {
  const path = contextsPath(env);
  const sorted = [...all].sort((a, b) => a.name.localeCompare(b.name));
  const entries = sorted.map(({ name, url: base, tokenFile }) => [
    name,
    { url: base, ...(tokenFile === null ? {} : { token_file: tokenFile }) },
  ]);
  const { stringify } = await import('yaml');
  const text = stringify({ current, contexts: Object.fromEntries(entries) });
  const unfinished = `${path}.${process.pid}`;
  try {
    makeDirectory(dirname(path), { mode: 0o700 });
    await writeFile(unfinished, text, { mode: 0o600 });
    await rename(unfinished, path);
  } catch (error) {
    throw new CardpollError('io', 'contexts_not_written', `cannot write ${path}: ${messageOf(error)}`, {
      cause: error,
    });
  }
}

function toContexts(file: unknown): Contexts {
  const { current = null, contexts = {} } = asRecord(file ?? {}, 'the file');
  const all = Object.entries(asRecord(contexts ?? {}, 'contexts')).map(([name, entry]) => {
    const { url: base, token_file: tokenFile = null } = asRecord(entry, name);
    const url = parseOr(
      () => BASE_URL.parse(base),
      (problem) => new Error(`${name}: url ${problem}`),
    );
    if (!NAME.test(name)) throw new Error(`"${name}" is not a context name`);
    if (tokenFile !== null && typeof tokenFile !== 'string')
      throw new Error(`${name}: token_file is not a path`);
    return { name, url, tokenFile };
  });
  if (current !== null && !all.some(({ name }) => name === current)) {
    throw new Error(`current: there is no context ${JSON.stringify(current)}`);
  }
  return { current: current as string | null, all };
}

function asRecord(value: unknown, what: string): Record<string, unknown> {
  if (isObject(value)) return value;
  throw new Error(`${what} must hold keys and values`);
}

function unusable(path: string, why: string): CardpollError {
  return new CardpollError('config', 'contexts_unusable', `${path}: ${why}`, {
    hint: 'fix or remove the file, or give the address of the daemon with --url',
  });
}
