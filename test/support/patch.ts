// Whether a patch still applies: the lines that each of its hunks expects are in the file, one after the other. Without git, which a
// machine that only runs the tests may lack.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** @returns the first hunk that does not apply; null: all do. @throws the system's error for a file that is gone. */
export function brokenHunk(patchFile: string, root: string): string | null {
  for (const section of readFileSync(patchFile, 'utf8')
    .split(/^--- a\//m)
    .slice(1)) {
    const [path = '', ...lines] = section.split('\n');
    const source = readFileSync(join(root, path.split('\t')[0] ?? ''), 'utf8');
    for (const hunk of lines
      .slice(1)
      .join('\n')
      .split(/^@@.*\n/m)
      .slice(1)) {
      const expected = hunk
        .split('\n')
        .filter((line) => /^[ -]/.test(line))
        .map((line) => `${line.slice(1)}\n`)
        .join('');
      if (!source.includes(expected)) return expected;
    }
  }
  return null;
}
