// Writes the manual, man/, and names its pages in package.json, from the declarations of the commands and the settings
// table. `npm run man`, after a change of either; a test fails while they differ.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { BUNDLED } from './bundled.js';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
/** Below node_modules, where the bundle finds the packages it leaves out. */
const BUNDLE = join(ROOT, 'node_modules/.cache/cardpoll/man.mjs');

await build({
  stdin: {
    resolveDir: ROOT,
    contents: `
      import { ROOT } from './src/cli/commands/root.ts';
      import { VERSION } from './src/platform/version.ts';
      import { manualPages } from './scripts/man/pages.ts';
      export const pages = manualPages(ROOT, VERSION);`,
  },
  outfile: BUNDLE,
  ...BUNDLED,
});
const { pages } = await import(pathToFileURL(BUNDLE).href);
rmSync(BUNDLE);

rmSync(join(ROOT, 'man'), { recursive: true, force: true });
mkdirSync(join(ROOT, 'man'));
for (const [name, text] of pages) writeFileSync(join(ROOT, 'man', name), text);

const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
manifest.man = [...pages.keys()].map((name) => `./man/${name}`);
writeFileSync(join(ROOT, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
