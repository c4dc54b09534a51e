// Builds the Debian package: `npm run package:deb [-- --revision N] [--out DIR]`. Binary, production packages, units,
// manual, completions, logrotate and configuration are laid out as Debian wants them and packed by dpkg-deb; the scripts
// the package runs and its control file are in deploy/debian. The same commit makes the same bytes (SOURCE_DATE_EPOCH).
// Standard output is the path of the package; what it does at the moment is on standard error.
// It depends on nodejs and contains no Node: Node has a security release every few weeks, which a copy would get only with the next
// release of cardpoll. debhelper would need a source package and debian/rules to say the same in a second language.
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, extname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { gzipSync } from 'node:zlib';
import { copyright } from './deb-copyright.js';
import { productionPackages } from './production-packages.js';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const { values: given } = parseArgs({
  options: { revision: { type: 'string', default: '1' }, out: { type: 'string', default: 'packages' } },
});
const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
const version = `${manifest.version}-${given.revision}`;
const packages = packagesOrEnd();
const epoch = process.env.SOURCE_DATE_EPOCH ?? output('git', 'log', '-1', '--format=%ct');
/** What a package of npm needs to be developed with, not to run: dot files, and these. Nor is there musl on Debian. */
const NOT_NEEDED = new Set(['.md', '.markdown', '.ts', '.mts', '.cts', '.map', '.flow', '.sh', '.html']);

/** Would want a compiler; what uses it does without. */
const NOT_BUILT = ['node_modules/zlib-sync', 'node_modules/nan'];
const architecture = output('dpkg', '--print-architecture');

const stage = mkdtempSync(join(tmpdir(), 'cardpoll-deb-'));
const begun = performance.now();
try {
  process.umask(0o022);
  chmodSync(stage, 0o755);
  step('copying the program and its npm packages from node_modules');
  layOutProgram();
  step('writing manual, completions, units and documentation');
  layOutManual();
  layOutCompletions();
  layOutService();
  layOutDocumentation();
  step('packing with xz, which takes longest');
  const file = pack();
  const megabytes = (lstatSync(file).size / 1e6).toFixed(1);
  process.stderr.write(`done: ${megabytes} MB in ${Math.ceil((performance.now() - begun) / 1000)} s\n`);
  process.stdout.write(`${file}\n`);
} finally {
  rmSync(stage, { recursive: true });
}

/** @param {string} doing */
function step(doing) {
  process.stderr.write(`${doing} ...\n`);
}

/** Nothing is done where they are not the tested ones. */
function packagesOrEnd() {
  try {
    return productionPackages(ROOT);
  } catch (error) {
    process.stderr.write(`package:deb: ${error instanceof Error ? error.message : error}\n`);
    process.exit(1);
  }
}

function layOutProgram() {
  for (const name of ['bin', 'dist']) copy(name, `usr/lib/cardpoll/${name}`);
  copy('package.json', 'usr/lib/cardpoll/package.json');
  for (const path of packages.filter((one) => !NOT_BUILT.includes(one))) {
    cpSync(join(ROOT, path), staged(`usr/lib/cardpoll/${path}`), {
      recursive: true,
      // What is in it and needed has a path of its own.
      filter: (from) => from !== join(ROOT, path, 'node_modules'),
    });
  }
  for (const file of filesBelow(staged('usr/lib/cardpoll'))) {
    if (isNotNeeded(file)) rmSync(file);
    else chmodSync(file, file.endsWith('/bin/cardpoll.js') ? 0o755 : 0o644);
  }
  mkdirSync(staged('usr/bin'), { recursive: true });
  symlinkSync('../lib/cardpoll/bin/cardpoll.js', staged('usr/bin/cardpoll'));
}

function layOutManual() {
  for (const name of readdirSync(join(ROOT, 'man'))) {
    compressed(`usr/share/man/man${name.at(-1)}/${name}`, readFileSync(join(ROOT, 'man', name)));
  }
}

function layOutCompletions() {
  /** @param {string} shell */
  const script = (shell) => output(process.execPath, join(ROOT, 'bin/cardpoll.js'), 'completion', shell);
  written('usr/share/bash-completion/completions/cardpoll', script('bash'));
  written('usr/share/zsh/vendor-completions/_cardpoll', script('zsh'));
  written('usr/share/fish/vendor_completions.d/cardpoll.fish', script('fish'));
}

function layOutService() {
  copy('deploy/systemd', 'usr/lib/systemd/system');
  // Its name in 0.2: units enabled and drop-ins written under it stay in force.
  symlinkSync('cardpoll@.service', staged('usr/lib/systemd/system/cardpoll-worker@.service'));
  for (const name of ['sysusers.d', 'tmpfiles.d']) {
    copy(`deploy/${name}/cardpoll.conf`, `usr/lib/${name}/cardpoll.conf`);
  }
  copy('deploy/logrotate.d/cardpoll', 'etc/logrotate.d/cardpoll');
  copy('deploy/debian/cardpoll.yaml', 'usr/share/cardpoll/cardpoll.yaml');
}

function layOutDocumentation() {
  const doc = 'usr/share/doc/cardpoll';
  for (const name of ['cron.d', 'grafana', 'prometheus', 'receivers'])
    copy(`deploy/${name}`, `${doc}/examples/${name}`);
  copy('docs/cardpoll.sample.yaml', `${doc}/examples/cardpoll.sample.yaml`);
  compressed(`${doc}/changelog.gz`, readFileSync(join(ROOT, 'CHANGELOG.md')));
  const date = new Date(Number(epoch) * 1000).toUTCString().replace('GMT', '+0000');
  compressed(
    `${doc}/changelog.Debian.gz`,
    `cardpoll (${version}) unstable; urgency=medium\n\n  * See changelog.gz.\n\n -- ${controlField('Maintainer')}  ${date}\n`,
  );
  written(`${doc}/copyright`, copyright(staged('usr/lib/cardpoll')));
}

/** @returns the path of the package. */
function pack() {
  const files = filesBelow(stage)
    .map((file) => file.slice(stage.length + 1))
    .sort();
  const sums = output('sh', '-c', 'cd "$1" && shift && md5sum "$@"', 'sh', stage, ...files);
  const kilobytes = files.reduce((sum, file) => sum + Math.ceil(lstatSync(staged(file)).size / 1024), 0);
  const control = readFileSync(join(ROOT, 'deploy/debian/control'), 'utf8')
    .replace('@VERSION@', version)
    .replace('@ARCHITECTURE@', architecture);
  written(
    'DEBIAN/control',
    control.replace('\nDescription:', `\nInstalled-Size: ${kilobytes}\nDescription:`),
  );
  written(
    'DEBIAN/conffiles',
    `${files
      .filter((file) => file.startsWith('etc/'))
      .map((file) => `/${file}\n`)
      .join('')}`,
  );
  written('DEBIAN/md5sums', sums);
  for (const name of ['postinst', 'prerm', 'postrm']) {
    copy(`deploy/debian/${name}`, `DEBIAN/${name}`);
    chmodSync(staged(`DEBIAN/${name}`), 0o755);
  }
  const file = resolve(given.out, `cardpoll_${version}_${architecture}.deb`);
  mkdirSync(dirname(file), { recursive: true });
  execFileSync('dpkg-deb', ['--root-owner-group', '-Zxz', '--threads-max=1', '--build', stage, file], {
    env: { ...process.env, SOURCE_DATE_EPOCH: epoch },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  return file;
}

/** @param {string} name */
function controlField(name) {
  const control = readFileSync(join(ROOT, 'deploy/debian/control'), 'utf8');
  return control.match(new RegExp(`^${name}: (.*)$`, 'm'))?.[1];
}

/** @param {string} file */
function isNotNeeded(file) {
  const [, path] = file.split('/cardpoll/node_modules/');
  return path !== undefined && (/(^|\/)(\.|musl_)/.test(path) || NOT_NEEDED.has(extname(path)));
}

/** @param {string} path */
function staged(path) {
  return join(stage, path);
}

/** @param {string} from @param {string} to */
function copy(from, to) {
  mkdirSync(dirname(staged(to)), { recursive: true });
  cpSync(join(ROOT, from), staged(to), { recursive: true });
  const made = lstatSync(staged(to)).isDirectory() ? filesBelow(staged(to)) : [staged(to)];
  for (const file of made) chmodSync(file, 0o644);
}

/** @param {string} path @param {string} text */
function written(path, text) {
  mkdirSync(dirname(staged(path)), { recursive: true });
  writeFileSync(staged(path), text.endsWith('\n') ? text : `${text}\n`, { mode: 0o644 });
}

/** @param {string} path @param {string | Uint8Array} content */
function compressed(path, content) {
  mkdirSync(dirname(staged(path)), { recursive: true });
  const name = path.endsWith('.gz') ? path : `${path}.gz`;
  writeFileSync(staged(name), gzipSync(content, { level: 9 }), { mode: 0o644 });
}

/** Plain files, links left out. @param {string} directory */
function filesBelow(directory) {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

/** @param {string} command @param {string[]} args */
function output(command, ...args) {
  return execFileSync(command, args, { cwd: ROOT, encoding: 'utf8', maxBuffer: 1 << 26 }).trim();
}
