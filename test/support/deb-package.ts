// Debian packages of this source as it stands, of any version: made in a copy, so that no other version is left in the tree.
import { execFile } from 'node:child_process';
import { appendFileSync, cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { temporaryDirectory } from './temporary-directory.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** What a package is made from. */
const SOURCES = ['bin', 'deploy', 'docs', 'man', 'scripts', 'src', 'package.json', 'package-lock.json'];
const FILES = ['CHANGELOG.md', 'LICENSE'];
const run = promisify(execFile);

/** @returns the path of the package. */
export async function buildDeb(version: string, into: string): Promise<string> {
  const copy = temporaryDirectory('source');
  for (const name of [...SOURCES, ...FILES]) cpSync(join(ROOT, name), join(copy, name), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
  for (const name of ['package.json', 'package-lock.json']) setVersion(join(copy, name), version);
  // Every release has settings of its own, and so another sample of the configuration.
  appendFileSync(join(copy, 'docs', 'cardpoll.sample.yaml'), `\n# As of ${version}.\n`);
  const { stdout } = await run('npm', ['run', '--silent', 'package:deb', '--', '--out', into], {
    cwd: copy,
    env: { ...process.env, SOURCE_DATE_EPOCH: '1700000000' },
  });
  return stdout.trim();
}

/** A package that installs like another one and whose daemon ends at once: what it says, and with which exit code. */
export async function unableDeb(
  deb: string,
  { version, says, code }: { version: string; says: string; code: number },
  into: string,
): Promise<string> {
  const copy = temporaryDirectory('deb');
  const made = join(into, `cardpoll_${version}-1_unable.deb`);
  await run('dpkg-deb', ['--raw-extract', deb, copy]);
  const control = join(copy, 'DEBIAN', 'control');
  writeFileSync(control, readFileSync(control, 'utf8').replace(/^Version: .*$/m, `Version: ${version}-1`));
  writeFileSync(
    join(copy, 'usr/lib/cardpoll/bin/cardpoll.js'),
    `#!/usr/bin/env node\nconsole.error(${JSON.stringify(says)});\nprocess.exitCode = ${code};\n`,
  );
  await run('dpkg-deb', ['--root-owner-group', '-Znone', '--build', copy, made]);
  return made;
}

function setVersion(file: string, version: string): void {
  const manifest = JSON.parse(readFileSync(file, 'utf8'));
  manifest.version = version;
  if (manifest.packages?.[''] !== undefined) manifest.packages[''].version = version;
  writeFileSync(file, JSON.stringify(manifest));
}
