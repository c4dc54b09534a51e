// Reads the mutants of test/mutants/: patches for Lua and SQL whose first lines say what they break, and which test of
// which contract suite must notice. Used by mutate-stores.js, and by the test that keeps them applicable.
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const FOLDER = new URL('../test/mutants/', import.meta.url);

/** @returns {{ name: string, file: string, breaks: string, suite: string, test: string }[]} */
export function readMutants() {
  const names = readdirSync(FOLDER).filter((name) => name.endsWith('.patch'));
  return names.sort().map((name) => {
    const file = fileURLToPath(new URL(name, FOLDER));
    const head = /^Breaks: (.+)\nSuite: (.+)\nTest: (.+)\n\n--- a\/src\/(?:store|domain)\//.exec(
      readFileSync(file, 'utf8'),
    );
    if (head === null) throw new Error(`${name} does not begin with what it breaks, its suite and its test`);
    const [, breaks = '', suite = '', test = ''] = head;
    return { name: name.slice(0, -'.patch'.length), file, breaks, suite, test };
  });
}
