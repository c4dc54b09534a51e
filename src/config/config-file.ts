// Reads a YAML file of settings: values by dotted path with their line, and every unknown key. Used for the config file
// (reader.ts) and the profile of a gateway (profile.ts). Does not interpret values.
import { dirname, resolve } from 'node:path';
import { type FieldProblem, unreadableText } from '../platform/errors.ts';
import { type FileRights, readSmallFileAndRights } from '../platform/small-file.ts';
import { GONE_SETTINGS } from './settings/gone.ts';
import { nearest } from './suggest.ts';

export interface FileValue {
  readonly raw: unknown;
  /** For messages: `cardpoll.yaml:12 polling.lease_ms`. */
  readonly origin: string;
  /** Base of relative paths in a value from a file; absent: the working directory. */
  readonly directory?: string;
}

export interface ConfigFile {
  readonly values: ReadonlyMap<string, FileValue>;
  readonly problems: readonly FieldProblem[];
  /** False when the values of the file are unknown. */
  readonly isReadable: boolean;
  /** Absent: there is no file, or its rights are checked elsewhere. */
  readonly rights?: FileRights;
}

export const NO_FILE: ConfigFile = { values: new Map(), problems: [], isReadable: true };

/** @param knownPaths dotted paths of all settings that are allowed in a file. */
export async function readConfigFile(path: string, knownPaths: readonly string[]): Promise<ConfigFile> {
  try {
    const { text, rights } = readSmallFileAndRights(path);
    return { ...(await parseSettings(text, path, knownPaths)), rights };
  } catch (error) {
    return {
      ...NO_FILE,
      isReadable: false,
      problems: [{ field: 'config', message: `config file: ${unreadableText(path, error)}` }],
    };
  }
}

/** @param path of the file; for other text, its name in messages. */
export async function parseSettings(
  text: string,
  path: string,
  knownPaths: readonly string[],
): Promise<ConfigFile> {
  // The parser is loaded only when there is a file: most client commands run without one and start faster.
  const { LineCounter, parseDocument, isAlias, isMap, isScalar, visit: visitAll } = await import('yaml');
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const directory = dirname(resolve(path));
  const values = new Map<string, FileValue>();
  const problems: FieldProblem[] = document.errors.map((error) => ({
    field: 'config',
    message: `${path}:${lines.linePos(error.pos[0]).line}: not valid YAML: ${error.message}`,
  }));

  visitAll(document, (_, node) => {
    const { anchor, range } = (node ?? {}) as { anchor?: string; range?: [number] };
    if (!isAlias(node) && anchor === undefined) return;
    const { line } = lines.linePos(range?.[0] ?? 0);
    problems.push({
      field: 'config',
      message: `${path}:${line}: anchors (&) and aliases (*) are not supported`,
    });
  });
  const isReadable = problems.length === 0;

  const visit = (node: unknown, prefix: string): void => {
    if (!isMap(node)) {
      if (isScalar(node) && node.value === null) return;
      problems.push({ field: prefix, message: `${path}: ${prefix || 'the file'} must hold keys and values` });
      return;
    }
    for (const { key, value } of node.items) {
      const dotted = `${prefix}${prefix === '' ? '' : '.'}${isScalar(key) ? String(key.value) : '?'}`;
      const line = isScalar(key) && key.range ? lines.linePos(key.range[0]).line : 1;
      if (knownPaths.includes(dotted)) {
        const raw = (value as { toJS(doc: unknown): unknown } | null)?.toJS(document) ?? null;
        if (raw !== null) values.set(dotted, { raw, origin: `${path}:${line} ${dotted}`, directory });
      } else if (knownPaths.some((known) => known.startsWith(`${dotted}.`))) {
        visit(value, dotted);
      } else {
        problems.push({ field: dotted, message: `${path}:${line}: ${unknownText(dotted, knownPaths)}` });
      }
    }
  };
  if (isReadable && document.contents !== null) visit(document.contents, '');
  return { values, problems, isReadable };
}

const NO_SECRETS = ': secrets are never in this file; give them as CARDPOLL_* variables or files';

function unknownText(dotted: string, knownPaths: readonly string[]): string {
  const instead = GONE_SETTINGS[dotted];
  if (instead !== undefined) return `${dotted} is gone: ${instead}`;
  return `unknown key ${dotted}${namesSecret(dotted) ? NO_SECRETS : suggestion(dotted, knownPaths)}`;
}

function namesSecret(dotted: string): boolean {
  return /(password|secret|token|credential|(api|hmac)_?key|username|client_id)$/i.test(dotted);
}

/** Suggests the right place for a key of another section, otherwise a similar name. The section of `dotted` is known. */
function suggestion(dotted: string, knownPaths: readonly string[]): string {
  const at = dotted.lastIndexOf('.') + 1;
  const [section, key] = [dotted.slice(0, at), dotted.slice(at)];
  const siblings = knownPaths
    .filter((known) => known.startsWith(section))
    .map((known) => known.slice(at).replace(/\..*/, ''));
  const near = nearest(key, siblings);
  const best = knownPaths.find((known) => `.${known}`.endsWith(`.${key}`)) ?? (near && `${section}${near}`);
  return best === null ? '' : ` (did you mean ${best}?)`;
}
