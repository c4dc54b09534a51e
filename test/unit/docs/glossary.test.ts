// The words that the glossary rules out stand in no name of the source and in no field of JSON.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { readSourceTree, type SourceFile } from '../../support/source-tree.ts';

/** Words of others, which stay theirs. */
const EXCEPTIONS: ReadonlyArray<{ name: RegExp; in: RegExp; why: string }> = [
  { name: /^(NodeJS|NODE_ENV|nodeLibrary)$/, in: /./, why: 'the runtime' },
  {
    name: /^node$/,
    in: /^main\.ts$|\/(probes|version|inflaters)\.ts$/,
    why: 'the runtime, its version, its inflate',
  },
  { name: /^node$/, in: /^config\/config-file\.ts$/, why: 'of a YAML document' },
  { name: /node/i, in: /^(store\/redis\/|doctor\.ts)/, why: 'of a Redis Cluster' },
  { name: /master/i, in: /^store\/redis\//, why: 'the word of Redis and of Sentinel' },
  { name: /replica/i, in: /^store\/redis\//, why: 'the word of Redis' },
  { name: /^getPeerCertificate$/, in: /^gateway\/request\//, why: 'the word of TLS in Node' },
  { name: /subscriber/i, in: /^store\/redis\//, why: 'a connection that listens to a channel of Redis' },
];

const root = fileURLToPath(new URL('../../..', import.meta.url));

/** Of the second table; a name is looked at word by word, camelCase and snake_case alike. */
const ruledOut = readFileSync(`${root}/docs/glossary.md`, 'utf8')
  .split('## Not these words')[1]
  ?.split('\n')
  .filter((line) => line.startsWith('| ') && !/^\| (not|---)/.test(line))
  .flatMap((line) => (line.split('|')[1] ?? '').split(',').map((word) => word.trim()));

function wordsOf(name: string): string[] {
  return name
    .replace(/([a-z\d])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .split(/[_$]+/);
}

/** Names, and words in quotes that are one: a field, a state. Sentences are for people. */
function namesIn({ source }: Pick<SourceFile, 'source'>): Set<string> {
  const code = source
    .replace(/\/\*[\s\S]*?\*\/|(^|\s)\/\/.*$/gm, '')
    .replace(/'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`/g, (text) =>
      /^'[a-z]+(_[a-z]+)+'$/.test(text) ? text : "''",
    );
  return new Set(code.match(/[A-Za-z_]\w*/g));
}

function misnamed(file: Pick<SourceFile, 'path' | 'source'>): string[] {
  const isException = (name: string) =>
    EXCEPTIONS.some((one) => one.name.test(name) && one.in.test(file.path));
  return [...namesIn(file)].flatMap((name) =>
    wordsOf(name)
      .filter((word) => ruledOut?.includes(word) && !isException(name))
      .map((word) => `${file.path}: ${name} (not ${word})`),
  );
}

it('are in no name and no field', () => {
  expect(ruledOut?.length).toBeGreaterThan(20);
  expect(readSourceTree(`${root}/src`).flatMap(misnamed)).toEqual([]);
});

it.each([
  ['const quotaOf = 1;', ['x.ts: quotaOf (not quota)']],
  ['z.object({ in_circuit: z.string() });', ['x.ts: in_circuit (not circuit)']],
  ["const state = 'card_suspend';", ['x.ts: card_suspend (not suspend)']],
  ["// a quota\nshow('the quota of a device');", []],
])('would be seen in %j', (source, expected) => {
  expect(misnamed({ path: 'x.ts', source })).toEqual(expected);
});
