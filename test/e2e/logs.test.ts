// `cardpoll logs` as operators run it: exit codes, streams, formats, permissions, worker threads. The daemon's own
// logs are logs-rotated.test.ts.
import { execFile } from 'node:child_process';
import { chmodSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { reportToJson } from '../../src/log-search/report/report.ts';
import { cliHere } from '../support/cli-here.ts';
import { LogTree } from '../support/log-tree.ts';
import { runCli } from '../support/processes.ts';

const BINARY = fileURLToPath(new URL('../../bin/cardpoll.js', import.meta.url));
const CARD = '8986001234567890123';
const at = (time: string, rest = '') => `{"time":"${time}","iccid":"${CARD}"${rest}}\n`;
const run = promisify(execFile);
/** Root may read anything. */
const AS_NOBODY =
  process.getuid?.() === 0 ? ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'] : [];

function threeDays(): LogTree {
  const tree = new LogTree();
  const day = (date: string) =>
    gzipSync(at(`${date}T00:00:00.5Z`) + at(`${date}T12:00:00Z`) + at(`${date}T23:59:59.9Z`));
  tree.write('worker.log-20260202.gz', day('2026-02-01'), '2026-02-02T00:00:00Z');
  tree.write('worker.log-20260203.gz', day('2026-02-02'), '2026-02-03T00:00:00Z');
  tree.write('worker.log', at('2026-02-03T08:00:00Z'), '2026-02-03T08:00:00Z');
  return tree;
}

const logs = (tree: LogTree, ...args: string[]) =>
  cliHere(['logs', '--roots', tree.root, '--iccid', CARD, '--tz', 'UTC', ...args]);

describe('exit codes', () => {
  it('0 with hits, 1 without, 2 when something could not be read whole', async () => {
    const tree = threeDays();
    expect(await logs(tree, '--count-only')).toMatchObject({ code: 0, stdout: '7\n', stderr: '' });
    expect(await logs(tree, '--count-only', '--date', '2026-02-09')).toMatchObject({
      code: 1,
      stdout: '0\n',
    });
    tree.write('torn.gz', gzipSync(at('2026-02-01T10:00:00Z')).subarray(0, -4));
    const torn = await logs(tree, '--count-only');
    expect(torn).toMatchObject({ code: 2, stdout: '8\n' });
    expect(torn.stderr).toMatch(/truncated .*torn\.gz/);
  });

  it.each([
    [['--roots', '/no/such/place', '--iccid', '1'], 66, /--roots/],
    [['--roots', '/tmp', '--iccid', '12x'], 64, /--iccid 8986/],
    [['--roots', '/tmp', '--iccid', '1', '--date', '2026-02-30'], 64, /--date 2026-02-01/],
    [['--roots', '/tmp', '--iccid', '1', '--since', 'noon'], 64, /--since 2h/],
    [['--roots', '/tmp', '--iccid', '1', '--tz', 'Mars'], 64, /--tz UTC/],
    [['--roots', '/tmp', '--iccid', '1', '--interface', 'x'], 64, /realname/],
    [['--roots', ':', '--iccid', '1'], 64, /--roots/],
    [['--roots', '/tmp'], 64, /--iccid/],
    [['--iccid', '1'], 64, /--roots/],
  ])('%j: %i', async (args, code, says) => {
    const result = await cliHere(['logs', ...args]);
    expect([result.code, result.stdout]).toEqual([code, '']);
    expect(result.stderr).toMatch(/^[^\n]+\n$/);
    expect(result.stderr).toMatch(says);
  });
});

describe('windows', () => {
  it('one day searches the files of that day and their neighbours only', async () => {
    const { code, stdout } = await logs(threeDays(), '--date', '2026-02-01', '-o', 'json');
    const report = JSON.parse(stdout);
    expect(code).toBe(0);
    expect(report).toMatchObject({
      hits: 3,
      complete: true,
      window: { from: '2026-02-01T00:00:00+00:00', to: '2026-02-02T00:00:00+00:00' },
      first_hit: '2026-02-01T00:00:00.500+00:00',
      files: { considered: 3, pruned: 1 },
    });
  });

  it('a day is a day of the zone', async () => {
    const tree = threeDays();
    const shanghai = await logs(tree, '--count-only', '--date', '2026-02-02', '--tz', 'Asia/Shanghai');
    // 16:00 to 16:00 UTC: the last line of the first, two of the second.
    expect(shanghai.stdout).toBe('3\n');
    const range = await logs(
      tree,
      '--count-only',
      '--since',
      '2026-02-01 12:00',
      '--until',
      '2026-02-02T12:00:00Z',
    );
    expect(range.stdout).toBe('3\n');
  });
});

describe('times without offset', () => {
  it('are of the process’s zone where none is named, also when its clocks change', async () => {
    const tree = new LogTree();
    const line = (time: string) => `${time} iccid=${CARD}\n`;
    const text = line('2026-09-05 23:30:00') + line('2026-09-06 01:30:00') + line('2026-09-06 23:30:00');
    tree.write('worker.log', text, '2026-09-07T12:00:00Z');
    const args = ['logs', '--roots', tree.root, '--iccid', CARD, '--date', '2026-09-06', '-o', 'json'];
    const told = async (zone: string, ...more: string[]) => {
      const { stdout } = await runCli([...args, ...more], { env: { TZ: zone } });
      const { elapsed_ms: _, ...report } = JSON.parse(stdout);
      return report;
    };
    // Midnight does not happen there that day: it has 23 hours.
    const own = await told('America/Santiago');
    expect(own).toMatchObject({
      hits: 2,
      zone: 'America/Santiago',
      window: { from: '2026-09-06T01:00:00-03:00', to: '2026-09-07T00:00:00-03:00' },
    });
    expect(own).toEqual(await told('UTC', '--tz', 'America/Santiago'));
    // POSIX lets TZ be what has no name.
    expect(await told('EST5')).toMatchObject({ hits: 2, zone: 'local -05:00/-05:00' });
  });
});

describe('output', () => {
  it('--all is in time order across files, with the summary aside', async () => {
    const tree = threeDays();
    tree.write('api/api.log', at('2026-02-01T18:00:00Z', ',"api":1'));
    const { stdout, stderr } = await logs(tree, '--all');
    const times = stdout.split('\n').flatMap((line) => /"time":"([^"]+)"/.exec(line)?.[1] ?? []);
    expect(times).toHaveLength(8);
    expect(times).toEqual([...times].sort());
    expect(stderr).toMatch(/hits +8/);
    const json = JSON.parse((await logs(tree, '--all', '-o', 'json')).stdout);
    expect(json.records.map((record: { line: string }) => JSON.parse(record.line).time)).toEqual(times);
    const lines = (await logs(tree, '--all', '-o', 'jsonl')).stdout.trim().split('\n');
    expect(lines.map((line) => JSON.parse(line).type)).toEqual([...times.map(() => 'hit'), 'summary']);
  });

  it('| head gets its lines and no noise', async () => {
    const tree = new LogTree();
    tree.write('worker.log', at('2026-02-01T10:00:00Z').repeat(50_000));
    const line = `set -o pipefail; "$0" "$1" logs --roots ${tree.root} --iccid ${CARD} --all | head -1`;
    const { stdout, stderr } = await run('bash', ['-c', line, process.execPath, BINARY]);
    expect(stdout.split('\n')).toHaveLength(2);
    expect(stderr).toBe('');
  });

  it('--trace shows the rest of the request', async () => {
    const tree = new LogTree();
    tree.write('worker.log', at('2026-02-01T10:00:01Z', ',"request_id":"r-1"'));
    tree.write(
      'gw.log',
      '{"time":"2026-02-01T10:00:00Z","requestId":"r-1","msg":"asked"}\n{"time":"2026-02-01T10:00:00Z","requestId":"r-12"}\n{"time":"2026-02-01T11:00:00Z","requestId":"r-1","msg":"reused"}\n',
    );
    const { stdout } = await logs(tree, '--trace', '-o', 'json');
    const { traces } = JSON.parse(stdout);
    expect(traces).toMatchObject([{ id: 'r-1', lines: [{ is_hit: false }, { is_hit: true }] }]);
    // With every hit as well, they come after the hits.
    const all = (await logs(tree, '--trace', '--all')).stdout;
    expect(all).toContain(`worker.log:${at('2026-02-01T10:00:01Z', ',"request_id":"r-1"')}request r-1\n`);
    expect(all).toContain('"msg":"asked"');
  });

  it('--count-only prints the number and keeps no hits, whatever else is asked for', async () => {
    const tree = threeDays();
    const command = ['logs', '--roots', tree.root, '--iccid', CARD, '--count-only', '--all', '--trace'];
    const { code, stdout } = await runCli(command, { env: { TMPDIR: '/nowhere' } });
    expect({ code, stdout }).toEqual({ code: 0, stdout: '7\n' });
  });
});

describe('permissions', () => {
  it('what may not be read is named, and the result is incomplete', async () => {
    const tree = threeDays();
    chmodSync(tree.root, 0o755);
    chmodSync(tree.path('worker.log'), 0o000);
    tree.write('secret/worker.log', at('2026-02-01T10:00:00Z'));
    chmodSync(tree.path('secret'), 0o000);
    const command = [
      ...AS_NOBODY,
      process.execPath,
      BINARY,
      'logs',
      '--roots',
      tree.root,
      '--iccid',
      CARD,
      '-o',
      'json',
    ];
    const failed = await run(command[0] ?? '', command.slice(1)).catch((error) => error);
    chmodSync(tree.path('secret'), 0o755);
    expect(failed.code).toBe(2);
    expect(JSON.parse(failed.stdout)).toMatchObject({ hits: 6, complete: false, files: { denied: 2 } });
  });
});

/** A script that changes each stream that inflates: what Node promises nothing about may go away. */
const withoutHandle = `const zlib = require('node:zlib');
    const { createInflateRaw } = zlib;
    let changed = 0;
    const value = (options) => {
      const stream = createInflateRaw(options);
      WHAT;
      changed += 1;
      return stream;
    };
    Object.defineProperty(zlib, 'createInflateRaw', { value });
    require('node:module').syncBuiltinESMExports();
    process.on('exit', () => process.stderr.write(changed > 0 ? 'changed' : 'unchanged'));`;

describe('inflating', () => {
  const withoutPackages = `const { _load } = module.constructor;
    module.constructor._load = (name, ...rest) => {
      if (!/zlib-sync|crc32/.test(name)) return _load(name, ...rest);
      process.stderr.write('changed');
      throw new Error('not built');
    };`;

  // What Node promises nothing about may go away, or do something else, and packages may be missing.
  it.each([
    ['without the handle', withoutHandle.replace('WHAT', 'stream._handle.writeSync = undefined')],
    ['with a handle that does nothing', withoutHandle.replace('WHAT', 'stream._handle.writeSync = () => {}')],
    ['without the packages', withoutPackages],
    ['with neither', withoutPackages + withoutHandle.replace('WHAT', 'stream._handle.writeSync = undefined')],
  ])('%s finds the same', async (_, preload) => {
    const tree = new LogTree();
    const text = at('2026-02-01T10:00:00Z').repeat(20_000);
    tree.write('a.gz', Buffer.concat([gzipSync(text), gzipSync(text)]));
    tree.write('b.gz', gzipSync(text).subarray(0, -8));
    const script = new LogTree().write('preload.cjs', preload);
    const { code, stdout, stderr } = await runCli(
      ['logs', '--roots', tree.root, '--iccid', CARD, '-o', 'json'],
      {
        env: { NODE_OPTIONS: `--require="${script}"` },
      },
    );
    expect(stderr).toMatch(/^(changed)+$/);
    const { hits, files } = JSON.parse(stdout);
    expect({ code, hits, damaged: files.damaged }).toEqual({ code: 2, hits: 60_000, damaged: 1 });
  });
});

// On Node 24 and later, zlib-sync aborts a process some time after it inflated: only files of some size show that.
describe('zlib-sync', () => {
  const isRefused = Number.parseInt(process.versions.node, 10) >= 24;

  it.each([
    ['as Node is', '', 'the handle of node:zlib'],
    [
      'without the handle',
      'stream._handle.writeSync = undefined',
      isRefused ? 'the streams of node:zlib' : 'zlib-sync',
    ],
  ])('a search %s ends well, and -v says what inflates', async (_, change, library) => {
    const tree = new LogTree();
    const text = at('2026-02-01T10:00:00Z').repeat(20_000);
    for (const name of ['a.gz', 'b.gz', 'c.gz'])
      tree.write(name, Buffer.concat([gzipSync(text), gzipSync(text)]));
    const script = new LogTree().write('preload.cjs', withoutHandle.replace('WHAT', change));
    const search = ['logs', '--roots', tree.root, '--iccid', CARD, '--count-only', '-v'];
    const { code, stdout, stderr } = await runCli(search, { env: { NODE_OPTIONS: `--require="${script}"` } });
    expect({ code, stdout }).toEqual({ code: 0, stdout: '120000\n' });
    const refusal = isRefused ? '; zlib-sync is not loaded: it aborts Node 24 and later' : '';
    expect(stderr).toBe(`gzip is inflated with ${library}${refusal}\nchanged`);
  });
});

describe('worker threads', () => {
  it('find what one thread finds', async () => {
    const tree = new LogTree();
    for (let file = 0; file < 4; file += 1) {
      const noise = `{"time":"2026-02-0${file + 1}T10:00:00Z","msg":"${'x'.repeat(200)}"}\n`.repeat(100_000);
      const content = Buffer.from(noise + at(`2026-02-0${file + 1}T11:00:00Z`).repeat(file + 1));
      // Compresses far too well to be worth a thread otherwise.
      tree.write(`worker.log.${file}`, file % 2 === 0 ? content : gzipSync(content, { level: 0 }));
    }
    const one = reportToJson(await tree.search({ iccid: CARD, threads: 1 }));
    const two = reportToJson(await tree.search({ iccid: CARD, threads: 2 }));
    expect(one.hits).toBe(10);
    expect([one.threads, two.threads]).toEqual([1, 2]);
    for (const part of ['hits', 'matching_files', 'samples', 'hits_by_interface', 'bytes'])
      expect(two[part]).toEqual(one[part]);
    // Not worth starting a thread for.
    const small = await threeDays().search({ iccid: CARD, threads: 8 });
    expect(small.threads).toBe(1);
    const all = await tree.search({ iccid: CARD, threads: 2, all: true });
    expect([...all.records()]).toHaveLength(10);
  });
});

describe('what earlier versions had', () => {
  it.each([
    [['index', '--roots', '/tmp'], 'index', '--date'],
    [['--roots', '/tmp', 'index'], 'index', '--date'],
    [['--roots', '/tmp', '--iccid', '1', '--no-index'], '--no-index', '--date'],
    [['--roots', '/tmp', '--iccid', '1', '--cache-dir=/tmp'], '--cache-dir', '--date'],
    [['--roots', '/tmp', '--iccid', '1', '--inflate', 'node'], '--inflate', 'logs -v'],
    [['--roots', '/tmp', '--iccid', '1', '--threads=2'], '--threads', 'taskset'],
  ])('is refused with what to do instead: %j', async (args, word, instead) => {
    const { code, stdout, stderr } = await cliHere(['logs', ...args]);
    expect([code, stdout]).toEqual([64, '']);
    expect(stderr.trimEnd().split('\n')).toEqual([
      expect.stringMatching(new RegExp(`'${word}' is gone .hint: .*${instead}`)),
    ]);
  });
});
