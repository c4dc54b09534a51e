// This build as another release, for what tells versions apart. What the bundler took from package.json stands in one of
// its files, and is the only thing that differs.
import { cpSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import manifest from '../../package.json' with { type: 'json' };

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Copies it into `directory`. @returns what runs its `cardpoll` */
export function releaseOf(version: string, directory: string): readonly [string, ...string[]] {
  const root = join(directory, version);
  for (const part of ['bin', 'dist', 'package.json']) {
    cpSync(join(ROOT, part), join(root, part), { recursive: true });
  }
  symlinkSync(join(ROOT, 'node_modules'), join(root, 'node_modules'));
  const dist = join(root, 'dist');
  const inlined = `version: "${manifest.version}"`;
  const files = readdirSync(dist).filter((name) => name.endsWith('.js'));
  const holding = files.filter((name) => readFileSync(join(dist, name), 'utf8').includes(inlined));
  if (holding.length !== 1) throw new Error(`${inlined} stands in ${holding.length} files of the build`);
  const file = join(dist, `${holding[0]}`);
  writeFileSync(file, readFileSync(file, 'utf8').replace(inlined, `version: "${version}"`));
  return [process.execPath, join(root, 'bin', 'cardpoll.js')];
}
