// Reads source files and their imports, for the architecture test. Imports are found by their form, which Biome keeps
// uniform (at the start of a line); comments are taken out with esbuild before a file's text is judged.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';
import { transformSync } from 'esbuild';

export interface Import {
  /** A path inside the tree, or a package's name. */
  readonly target: string;
  readonly isPackage: boolean;
  readonly typeOnly: boolean;
  readonly dynamic: boolean;
}

export interface SourceFile {
  /** Relative to the tree's root, e.g. `store/redis/keys.ts`. */
  readonly path: string;
  readonly source: string;
  /** Without comments and types. */
  readonly code: string;
  readonly imports: readonly Import[];
}

const STATIC_IMPORT = /^(?:import|export)\s+(type\s+)?(?:[^'";]*?\sfrom\s+)?'([^']+)'/gm;
const DYNAMIC_IMPORT = /(typeof\s+)?\bimport\(\s*'([^']+)'/g;

/** Lowered templates keep the text of a string off the left margin, where statements are looked for. */
const ONE_LINE_STRINGS = { supported: { 'template-literal': false } } as const;

export function readSourceTree(root: string): SourceFile[] {
  return readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.tsx?$/.test(path) && !path.endsWith('.d.ts'))
    .sort()
    .map((path) => sourceFile(relative(root, join(root, path)), readFileSync(join(root, path), 'utf8')));
}

export function sourceFile(path: string, source: string): SourceFile {
  const { code } = transformSync(source, {
    loader: path.endsWith('x') ? 'tsx' : 'ts',
    legalComments: 'none',
    ...ONE_LINE_STRINGS,
  });
  return { path, source, code, imports: [...findImports(path, source)] };
}

const EXPORT = /^export (?:async )?(?:abstract )?(?:const|let|function\*?|class|interface|type) (\w+)/gm;

const EXPORTED_TYPE = /^export (?:abstract )?(?:class|interface|type) (\w+)/gm;

/** Names that several files give to types of theirs: whoever reads one cannot tell which is meant. */
export function typesNamedTwice(files: readonly SourceFile[]): string[] {
  const homes = new Map<string, string[]>();
  for (const { path, source } of files) {
    for (const [, name = ''] of source.matchAll(EXPORTED_TYPE)) {
      homes.set(name, [...(homes.get(name) ?? []), path]);
    }
  }
  return [...homes]
    .filter(([, paths]) => paths.length > 1)
    .map(([name, paths]) => `${name}: ${paths.join(', ')}`);
}

/** What a file exports and no other names. @param importers whoever may import from the files, these among them */
export function unusedExports(files: readonly SourceFile[], importers: readonly SourceFile[]): string[] {
  const users = new Map<string, number>();
  for (const { source } of importers) {
    const uncommented = source.replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '');
    for (const word of new Set(uncommented.match(/\w+/g))) users.set(word, (users.get(word) ?? 0) + 1);
  }
  return files.flatMap(({ path, source }) =>
    [...source.matchAll(EXPORT)]
      .filter(([, name = '']) => (users.get(name) ?? 0) < 2)
      .map(([, name]) => `${path}: ${name}`),
  );
}

function* findImports(path: string, source: string): Generator<Import> {
  for (const [, type, specifier = ''] of source.matchAll(STATIC_IMPORT)) {
    yield { ...resolve(path, specifier), typeOnly: type !== undefined, dynamic: false };
  }
  for (const [, type, specifier = ''] of source.matchAll(DYNAMIC_IMPORT)) {
    yield { ...resolve(path, specifier), typeOnly: type !== undefined, dynamic: true };
  }
}

function resolve(from: string, specifier: string): Pick<Import, 'target' | 'isPackage'> {
  if (specifier.startsWith('.'))
    return { target: normalize(join(dirname(from), specifier)), isPackage: false };
  const [scope = '', name] = specifier.split('/');
  return { target: scope.startsWith('@') ? `${scope}/${name}` : scope, isPackage: true };
}

/** One import cycle as the list of its files, the first one repeated at the end; null when there is none. */
export function findCycle(files: readonly SourceFile[]): string[] | null {
  const targets = new Map(files.map((file) => [file.path, file.imports.map((one) => one.target)]));
  const done = new Set<string>();
  const visit = (path: string, trail: readonly string[]): string[] | null => {
    if (trail.includes(path)) return [...trail.slice(trail.indexOf(path)), path];
    if (done.has(path)) return null;
    for (const target of targets.get(path) ?? []) {
      const cycle = visit(target, [...trail, path]);
      if (cycle !== null) return cycle;
    }
    done.add(path);
    return null;
  };
  for (const path of targets.keys()) {
    const cycle = visit(path, []);
    if (cycle !== null) return cycle;
  }
  return null;
}
