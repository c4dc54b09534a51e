// The dependency rule: who may import whom, which package belongs to which directory, what only one place knows.
// The tables below are the rule; the code under them reads src/ and compares.
import { readdirSync } from 'node:fs';
import { dirname, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import {
  findCycle,
  type Import,
  readSourceTree,
  type SourceFile,
  sourceFile,
  typesNamedTwice,
  unusedExports,
} from '../support/source-tree.ts';

const MAY_IMPORT = table(`
  domain         -> nothing
  platform       -> nothing
  config         -> domain, platform
  store ports    -> domain, platform
  store sql      -> store ports, domain, platform
  store postgres -> store sql, store ports, domain, platform
  store pglite   -> store sql, store ports, domain, platform
  store redis    -> store ports, domain, platform
  store memory   -> store ports, domain, platform
  resources      -> domain, platform
  endpoints      -> type of resources, domain, platform
  gateway        -> domain, platform
  health         -> store ports, domain, platform
  engine         -> health, store ports, gateway, domain, platform, type of config
  operations     -> health, store ports, domain, platform, type of engine, type of resources
  api client     -> endpoints, type of resources, domain, platform
  api            -> endpoints, resources, operations, health, domain, platform
  changes        -> type of api client, type of resources, terminal, domain, platform
  dashboard      -> api client, type of resources, changes, terminal, config, domain, platform
  log-search     -> domain, platform
  terminal       -> type of resources, domain
  cli            -> api client, type of resources, changes, terminal, log-search, dynamic dashboard, config, domain, platform
  wiring         -> everything
  main           -> wiring, cli, platform
`);

/** The first pattern that fits a path names its layer. A file that fits none is a violation. */
const LAYERS: ReadonlyArray<[RegExp, string]> = [
  [/^store\/(ports|sql|postgres|pglite|redis|memory)\//, 'store $1'],
  [/^api\/client\//, 'api client'],
  [/^resources\/endpoints\.ts$/, 'endpoints'],
  [
    /^(domain|platform|config|gateway|health|engine|operations|resources|api|changes|dashboard|log-search|terminal|cli)\//,
    '$1',
  ],
  [/^(wiring|serve|signals|reload|stores|(store|gateway)-commands|doctor|demo|proxy-report)\.ts$/, 'wiring'],
  [/^main\.ts$/, 'main'],
];

/** A package listed here may be imported (other than as a type) only by these files. */
const PACKAGE_HOME: Readonly<Record<string, RegExp>> = {
  react: /^dashboard\//,
  ink: /^dashboard\//,
  ioredis: /^store\/redis\//,
  pg: /^store\/postgres\//,
  'pg-copy-streams': /^store\/postgres\//,
  '@electric-sql/pglite': /^store\/pglite\//,
  fastify: /^api\//,
  '@fastify/rate-limit': /^api\//,
  'prom-client': /^api\//,
  zod: /^(api|resources)\//,
  commander: /^cli\//,
  pino: /^platform\//,
  undici: /^gateway\//,
  koffi: /^platform\/service-manager\.ts$/,
};

const RULES: ReadonlyArray<{ what: string; pattern: RegExp; allowedIn: RegExp }> = [
  {
    what: 'process.env, process.argv and process.exitCode',
    pattern: /\bprocess\.(env|argv|exitCode)\b|\b(env|argv|exitCode)\b[^;]*\bfrom "node:process"/,
    allowedIn: /^(main|wiring)\.ts$/,
  },
  {
    what: 'process.exit (it cuts piped output off)',
    pattern: /\bprocess\.(exit|reallyExit|abort)\b/,
    allowedIn: /^$/,
  },
  { what: 'a Redis key name', pattern: /\bpolling:[a-z]/, allowedIn: /^store\/redis\// },
  {
    // Commands that the doctor shows are none of ours.
    what: 'SQL (it is in .sql files: CONTRIBUTING.md, "Style")',
    pattern:
      /\b(SELECT|INSERT INTO|UPDATE \w+ SET|DELETE FROM|FROM \w+ WHERE|ORDER BY|RETURNING|EXPLAIN|TRUNCATE|VACUUM|ANALYZE)\b|\b(CREATE|ALTER|DROP|LOCK) (TEMPORARY |UNLOGGED )?(TABLE|INDEX|VIEW|FUNCTION|SEQUENCE|SYSTEM|SCHEMA)\b|\bCOPY \w+ (\(|FROM|TO)|\bSET (LOCAL |SESSION )?\w+ ?(=|TO)/,
    allowedIn: /^operations\/doctor\/record-store\.ts$/,
  },
  {
    // It would be an arrow that no import shows: what both need is below both, as src/health is.
    what: 'a function by which the engine asks the operations, or they ask it',
    pattern: /=>\s*(?:async\s+|await\s+|void\s+|\w+\()*(?:operations|engine|built)\b\s*[?.]/,
    allowedIn: /^(?!(wiring|stores)\.ts$)/,
  },
];

/** Services pause by the clock that they are given. Only these have a timer of their own, each for its reason. */
const OWN_TIMERS: ReadonlyArray<readonly [reason: string, files: RegExp]> = [
  ['it is the clock', /^platform\/clock\.ts$/],
  [
    'a deadline for what somebody else answers, which has to end whatever our clock says',
    /^(api\/(guard\/bodies|client\/client-calls|http-server)|engine\/alerts\/webhook-attempt|gateway\/(call\/exchange|request\/origin-pool)|store\/(redis\/client\/client|postgres\/record-store)|platform\/bulkhead)\.ts$/,
  ],
  [
    'tries a connection or a file again, under everything that knows a clock',
    /^(store\/redis\/work\/work-signal|platform\/line-file)\.ts$/,
  ],
  ['plays a gateway, and its troubles', /^(gateway\/simulate\/simulated-gateway|demo)\.ts$/],
  ['beats for the service manager only while the event loop runs', /^platform\/service-manager\.ts$/],
  ['paints a screen, or waits for a key', /^(dashboard|cli\/ask|log-search\/threads)\b/],
];

/** Layers divided into rooms, by the same nouns. The files at the top of a floor put its rooms together. */
const FLOORS = [
  'api',
  'cli/commands',
  'domain',
  'engine',
  'gateway',
  'log-search',
  'operations',
  'store/memory',
  'store/redis',
  'store/sql',
];
const MOST_FILES = 22;

const ROOT = fileURLToPath(new URL('../../src', import.meta.url));
const tree = readSourceTree(ROOT);

describe('src', () => {
  it('imports only what the table allows', () => {
    expect(tree.flatMap(wrongImports)).toEqual([]);
  });

  it('imports a package only where it belongs', () => {
    expect(tree.flatMap(strayPackages)).toEqual([]);
  });

  it('has no file longer than 400 lines', () => {
    expect(tree.filter(({ source }) => source.split('\n').length > 401).map(({ path }) => path)).toEqual([]);
  });

  it('has no import cycle', () => {
    expect(findCycle(tree)).toBeNull();
  });

  it('has no folder with more than 22 files side by side', () => {
    expect(crowded(filesPerFolder(ROOT))).toEqual([]);
  });

  it.each(FLOORS)('has no circle among the rooms of %s', (floor) => {
    expect(findCycle(roomsOf(floor, tree))).toBeNull();
  });

  it.each(RULES)('keeps to its place: $what', (rule) => {
    expect(tree.filter((file) => breaks(rule, file)).map((file) => file.path)).toEqual([]);
  });

  it('pauses by the given clock: only the listed files have a timer of their own', () => {
    const isListed = ({ path }: SourceFile) => OWN_TIMERS.some(([, files]) => files.test(path));
    expect(tree.filter((file) => setsTimer(file) && !isListed(file)).map((file) => file.path)).toEqual([]);
  });

  it('lists no timer that is none any more', () => {
    const unused = OWN_TIMERS.filter(
      ([, files]) => !tree.some((file) => files.test(file.path) && setsTimer(file)),
    );
    expect(unused).toEqual([]);
  });

  it('does no work at import', () => {
    const workers = /^(store\/pglite\/|log-search\/scan-)worker\.ts$/; // entry points of threads
    expect(tree.filter((file) => !workers.test(file.path)).flatMap(workAtImport)).toEqual([]);
  });

  it('says at the top of every file what it is', () => {
    expect(tree.filter((file) => !file.source.startsWith('//')).map((file) => file.path)).toEqual([]);
  });

  it('exports nothing that is not imported', () => {
    const others = ['..', '../../scripts'].flatMap((folder) =>
      readSourceTree(fileURLToPath(new URL(folder, import.meta.url))),
    );
    expect(unusedExports(tree, [...tree, ...others])).toEqual([]);
  });

  it('gives no two exported types one name', () => {
    expect(typesNamedTwice(tree)).toEqual([]);
  });

  it('has no drawer for anything', () => {
    const drawer = /(^|\/)(utils?|helpers?|common|types|misc|shared)(\/|\.)/;
    expect(tree.filter((file) => drawer.test(file.path)).map((file) => file.path)).toEqual([]);
  });
});

// A rule that cannot fail proves nothing: each one is shown a file that breaks it.
describe('the rules themselves', () => {
  const domainFile = (source: string) => sourceFile('domain/fixture.ts', source);

  it.each([
    ["import { x } from '../platform/clock.ts';", 'domain/fixture.ts imports platform (platform/clock.ts)'],
    ["import type { X } from '../engine/engine.ts';", 'domain/fixture.ts imports engine (engine/engine.ts)'],
    [
      "import {\n  x,\n  y,\n} from '../store/redis/keys.ts';",
      'domain/fixture.ts imports store redis (store/redis/keys.ts)',
    ],
    ["export { x } from '../api/server.ts';", 'domain/fixture.ts imports api (api/server.ts)'],
    ["const x = await import('../cli/run.ts');", 'domain/fixture.ts imports cli (cli/run.ts)'],
    ["import '../wiring.ts';", 'domain/fixture.ts imports wiring (wiring.ts)'],
  ])('see %j', (source, violation) => {
    expect(wrongImports(domainFile(source))).toEqual([violation]);
  });

  it('know a type import and a dynamic import from an ordinary one', () => {
    const operations = (source: string) => wrongImports(sourceFile('operations/fixture.ts', source));
    expect(operations("import type { E } from '../engine/engine.ts';")).toEqual([]);
    expect(operations("import { E } from '../engine/engine.ts';")).toHaveLength(1);
    const cli = (source: string) => wrongImports(sourceFile('cli/fixture.ts', source));
    expect(cli("const d = await import('../dashboard/dashboard.ts');")).toEqual([]);
    expect(cli("import { D } from '../dashboard/dashboard.ts';")).toHaveLength(1);
    expect(cli("import { c } from '../api/client/client.ts';")).toEqual([]);
    expect(cli("import { s } from '../api/server.ts';")).toHaveLength(1);
    expect(cli("import type { S } from '../resources/stats.ts';")).toEqual([]);
    expect(cli("import { s } from '../resources/stats.ts';")).toHaveLength(1);
    expect(
      wrongImports(sourceFile('resources/endpoints.ts', "import { s } from './stats.ts';")),
    ).toHaveLength(1);
  });

  it('see a file in no layer', () => {
    expect(wrongImports(sourceFile('stray.ts', ''))).toEqual(['stray.ts belongs to no layer']);
  });

  it('see a package away from home, but not its types', () => {
    expect(strayPackages(domainFile("import { Redis } from 'ioredis';"))).toHaveLength(1);
    expect(strayPackages(domainFile("import { jsx } from 'react/jsx-runtime';"))).toHaveLength(1);
    expect(strayPackages(domainFile("import type { Logger } from 'pino';"))).toEqual([]);
  });

  it('see a crowded folder', () => {
    expect(
      crowded(
        new Map([
          ['domain', MOST_FILES + 1],
          ['engine', MOST_FILES],
        ]),
      ),
    ).toEqual([`domain: ${MOST_FILES + 1} files`]);
  });

  it('see a circle of rooms where no file imports itself by way of others', () => {
    const files = [
      sourceFile('engine/work/a.ts', "import '../stats/b.ts';"),
      sourceFile('engine/stats/b.ts', ''),
      sourceFile('engine/stats/c.ts', "import type { D } from '../work/d.ts';"),
      sourceFile('engine/work/d.ts', ''),
      sourceFile('engine/engine.ts', "import './work/a.ts';"),
    ];
    expect(findCycle(files)).toBeNull();
    expect(findCycle(roomsOf('engine', files))).toEqual(['engine/work', 'engine/stats', 'engine/work']);
    expect(findCycle(roomsOf('engine', files.slice(0, 3)))).not.toBeNull();
    expect(findCycle(roomsOf('engine', [...files.slice(0, 2), ...files.slice(4)]))).toBeNull();
  });

  it('see a cycle', () => {
    const files = [
      sourceFile('a.ts', "import './b.ts';"),
      sourceFile('b.ts', "import './c.ts';"),
      sourceFile('c.ts', "import type { B } from './b.ts';"),
    ];
    expect(findCycle(files)).toEqual(['b.ts', 'c.ts', 'b.ts']);
    expect(findCycle(files.slice(0, 2))).toBeNull();
  });

  it.each([
    ['const home = process.env.HOME;', 0],
    ["import { env } from 'node:process'; use(env);", 0],
    ['process.exitCode = 1;', 0],
    ['process.exit(1);', 1],
    ["const key = 'polling:queue:realname';", 2],
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is source text
    ['const key = `polling:stats:${type}`;', 2],
    ["const sql = 'SELECT card_id FROM cards';", 3],
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is source text
    ['const sql = `UPDATE cards SET ${column} = 1`;', 3],
    ["const sql = 'SET LOCAL lock_timeout = 5';", 3],
    ["const filter = 'finished_at IS NULL ORDER BY id';", 3],
  ])('see %j', (source, index) => {
    expect(RULES.map((rule) => breaks(rule, domainFile(source))).indexOf(true)).toBe(index);
  });

  it.each([
    ['const conditions = () => operations.stats.conditions();', true],
    ['const promise = async () => broken(await operations.stats.overview());', true],
    ['const silence = () => built?.silence ?? null;', true],
    ['watch(() => conditionOf(engine)); await engine.stop();', false],
    ['const { audit } = operations;', false],
  ])('see an arrow between engine and operations in %j: %j', (source, seen) => {
    const rule = RULES.find(({ what }) => what.startsWith('a function by which'));
    expect(rule !== undefined && breaks(rule, sourceFile('wiring.ts', source))).toBe(seen);
  });

  it.each([
    ["import { setTimeout as sleep } from 'node:timers/promises'; sleep(5);", true],
    ["import { setInterval as every } from 'node:timers'; every(5);", true],
    ["import { scheduler } from 'node:timers/promises'; scheduler.wait(5);", true],
    ['const timer = setTimeout(() => {}, 5);', true],
    ['const timer = globalThis.setInterval(() => {}, 5);', true],
    ["import { setImmediate as nextTurn } from 'node:timers/promises'; nextTurn();", false],
    ['await clock.sleep(5);', false],
    ['socket.setTimeout(5);', false],
    ['AbortSignal.timeout(5);', true],
  ])('see a timer in %j: %j', (source, seen) => {
    expect(setsTimer(domainFile(source))).toBe(seen);
  });

  it('pass over comments', () => {
    const file = domainFile('// process.exit() and polling:queue: are\n/* FROM cards */ export const x = 1;');
    expect(RULES.some((rule) => breaks(rule, file))).toBe(false);
  });

  it('see an export without importer', () => {
    const files = [
      sourceFile('a.ts', '/** As Y does. */\nexport const X = 1;\nexport type Y = string;'),
      sourceFile('b.ts', "// Y is not for us.\nimport { X } from './a.ts';"),
    ];
    expect(unusedExports(files, files)).toEqual(['a.ts: Y']);
  });

  it('see a name that two types share', () => {
    const files = [
      sourceFile('a.ts', 'export interface X { readonly a: 1 }\nexport const f = 1;'),
      sourceFile('b.ts', "export type X = string;\nimport type { Y } from './c.ts';"),
      sourceFile('c.ts', 'export type Y = string;'),
    ];
    expect(typesNamedTwice(files)).toEqual(['X: a.ts, b.ts']);
  });

  it('see work at import', () => {
    expect(workAtImport(domainFile("process.on('exit', () => {});"))).toHaveLength(1);
    expect(workAtImport(domainFile('export const x = await load();'))).toHaveLength(1);
    expect(workAtImport(domainFile('export function f() {\n  start();\n}\nconst y = { a: 1 };'))).toEqual([]);
  });
});

/** Number of files, of whatever kind, that lie directly in each folder. */
function filesPerFolder(root: string): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
    const folder = relative(root, entry.parentPath);
    if (entry.isFile()) counts.set(folder, (counts.get(folder) ?? 0) + 1);
  }
  return counts;
}

function crowded(counts: ReadonlyMap<string, number>): string[] {
  return [...counts]
    .filter(([, count]) => count > MOST_FILES)
    .map(([folder, count]) => `${folder}: ${count} files`);
}

/** The folders of a floor as if each were one file, without what a room imports of its own. */
function roomsOf(floor: string, files: readonly SourceFile[]): SourceFile[] {
  const isRoom = (path: string) => path.startsWith(`${floor}/`) && dirname(path) !== floor;
  const members = files.filter(({ path }) => isRoom(path));
  const rooms = [...new Set(members.map(({ path }) => dirname(path)))];
  return rooms.map((room) => ({
    path: room,
    source: '',
    code: '',
    imports: members
      .filter(({ path }) => dirname(path) === room)
      .flatMap(({ imports }) => imports)
      .filter(({ target }) => isRoom(target) && dirname(target) !== room)
      .map((one) => ({ ...one, target: dirname(one.target) })),
  }));
}

function table(text: string): ReadonlyMap<string, readonly string[]> {
  const rows = text.trim().split('\n');
  return new Map(
    rows.map((row) => {
      const [layer = '', allowed = ''] = row.split('->').map((part) => part.trim());
      return [layer, allowed.split(',').map((name) => name.trim())];
    }),
  );
}

function layerOf(path: string): string | null {
  const [pattern, name] = LAYERS.find(([one]) => one.test(path)) ?? [null, ''];
  return pattern === null ? null : name.replace('$1', path.match(pattern)?.[1] ?? '');
}

function wrongImports(file: SourceFile): string[] {
  const layer = layerOf(file.path);
  if (layer === null) return [`${file.path} belongs to no layer`];
  const allowed = MAY_IMPORT.get(layer) ?? [];
  return file.imports
    .filter((one) => !one.isPackage && /\.tsx?$/.test(one.target))
    .filter((one) => !isAllowed(one, layer, allowed))
    .map((one) => `${file.path} imports ${layerOf(one.target)} (${one.target})`);
}

function isAllowed(one: Import, layer: string, allowed: readonly string[]): boolean {
  const target = layerOf(one.target);
  if (target === null) return false;
  if (target === layer || allowed.includes('everything') || allowed.includes(target)) return true;
  if (one.typeOnly && allowed.includes(`type of ${target}`)) return true;
  return one.dynamic && allowed.includes(`dynamic ${target}`);
}

function strayPackages({ path, imports }: SourceFile): string[] {
  return imports
    .filter((one) => one.isPackage && !one.typeOnly && PACKAGE_HOME[one.target]?.test(path) === false)
    .map((one) => `${path} imports ${one.target}`);
}

function breaks(rule: (typeof RULES)[number], { path, code }: SourceFile): boolean {
  return rule.pattern.test(code) && !rule.allowedIn.test(path);
}

/** A turn of the event loop is no timer: it takes no time. */
function setsTimer({ code }: SourceFile): boolean {
  const call =
    /(?<!\.)\bset(Timeout|Interval)\(|\bglobalThis\.set(Timeout|Interval)\b|\bAbortSignal\.timeout\(/;
  const imported =
    /import \{[^}]*\b(setTimeout|setInterval|scheduler)\b[^}]*\} from ['"]node:timers(\/promises)?['"]/;
  return call.test(code) || imported.test(code);
}

/** Statements at the left margin that declare nothing, and top-level await. Filling a constant just declared is fine. */
function workAtImport({ path, code }: SourceFile): string[] {
  const declaration = /^(import|export|const|let|var|function|async function|class|[\s})\]]|$)/;
  const constants = new Set([...code.matchAll(/^const (\w+) = /gm)].map((match) => match[1]));
  const isDeclaration = (line: string) =>
    declaration.test(line) || constants.has(line.match(/^(\w+)\./)?.[1]);
  return code
    .split('\n')
    .filter((line) => !isDeclaration(line) || /^(export )?(const|let|var) .*= await /.test(line))
    .map((line) => `${path}: ${line}`);
}
