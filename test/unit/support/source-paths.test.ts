// Files of the repository find each other in a clone of any path: with blanks, `%`, `#`, `?` and letters outside ASCII.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { REPOSITORY } from '../../support/markdown.ts';

const FOLDERS = ['bin', 'scripts', 'src', 'test'];
const THIS_FILE = 'test/unit/support/source-paths.test.ts';

/** The path of a URL is percent-encoded; fileURLToPath decodes it. A URL with a base is that of a file here. */
const ENCODED_PATH = /new URL\([^()]*,[^()]*\)\s*\.pathname/;
/** pathToFileURL encodes. PGlite's `dataDir` is no URL: it only cuts the prefix off. */
const UNENCODED_URL = /(?<!dataDir: .*)`file:\/\/\$\{/;

const isWrong = (code: string) => ENCODED_PATH.test(code) || UNENCODED_URL.test(code);

it('takes every path of a file from fileURLToPath, and every URL of one from pathToFileURL', () => {
  const files = FOLDERS.flatMap((folder) =>
    readdirSync(join(REPOSITORY, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.(m?js|tsx?)$/.test(name))
      .map((name) => join(folder, name)),
  );
  expect(files).toContain(THIS_FILE);
  const wrong = files.filter((file) => isWrong(readFileSync(join(REPOSITORY, file), 'utf8')));
  expect(wrong).toEqual([THIS_FILE]);
});

it.each([
  ["const root = new URL('..', import.meta.url).pathname;", true],
  ['const file = new URL(name, FOLDER)\n  .pathname;', true],
  [`await import(\`file://\${path}\`);`, true],
  ['const name = new URL(url).pathname.slice(1);', false],
  ["const root = fileURLToPath(new URL('..', import.meta.url));", false],
])('judges `%s`', (code, wrong) => {
  expect(isWrong(code)).toBe(wrong);
});
