// Every damage a log file can have: the right number of hits, and a notice where something is missing. Each case runs
// with each way to inflate.
import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  mkdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { findHits } from '../../../src/log-search/hits/find-hits.ts';
import { parseQuery } from '../../../src/log-search/plan/parse-query.ts';
import { exitCodeOf } from '../../../src/log-search/report/report.ts';
import { firstRows, sampled } from '../../support/effort.ts';
import {
  gzip,
  members,
  seededRandom,
  truncated,
  withFlippedByte,
  withWrongChecksum,
} from '../../support/gzip-damage.ts';
import { LogTree } from '../../support/log-tree.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const CARD = '8986001234567890123';

/** Lines of noise with the card in every `every`th; incompressible enough to be of some size. */
function noise(lines: number, every: number, seed = 1): string {
  const random = seededRandom(seed);
  return Array.from({ length: lines }, (_, index) => {
    const words = Array.from({ length: 8 }, () => Math.floor(random() * 2 ** 32).toString(36)).join(' ');
    const card = index % every === 0 ? CARD : `89860${Math.floor(random() * 1e14)}`.padEnd(19, '7');
    return `{"time":"2026-02-01T10:00:00Z","iccid":"${card}","msg":"${words}"}\n`;
  }).join('');
}

const BIG = noise(8_000, 100);
const BIG_GZIP = gzip(BIG);
const line = (text: string) => `{"iccid":"${CARD}","msg":"${text}"}\n`;
const ONE = line('one');
const ONE_GZIP = gzip(ONE);
const THREE = ONE + line('two') + line('three');

const CASES: Record<string, { file: Buffer; hits: number | { atLeast: number }; notice: string | null }> = {
  plain: { file: Buffer.from(THREE), hits: 3, notice: null },
  gzip: { file: gzip(THREE), hits: 3, notice: null },
  'large gzip': { file: BIG_GZIP, hits: 80, notice: null },
  'two members': { file: members(ONE, THREE), hits: 4, notice: null },
  'large members': { file: Buffer.concat([BIG_GZIP, gzip(THREE), BIG_GZIP]), hits: 163, notice: null },
  'a line across members': {
    file: members(`{"iccid":"${CARD.slice(0, 9)}`, `${CARD.slice(9)}"}\n`),
    hits: 1,
    notice: null,
  },
  'an empty member between': { file: members(ONE, '', THREE), hits: 4, notice: null },
  'truncated in the data': { file: truncated(BIG_GZIP, 100), hits: 80, notice: 'truncated' },
  'truncated in the trailer': { file: truncated(gzip(THREE), 3), hits: 3, notice: 'truncated' },
  'truncated in the second header': {
    file: Buffer.concat([gzip(THREE), Buffer.from('1f8b08', 'hex')]),
    hits: 3,
    notice: 'truncated',
  },
  'only a header': { file: gzip('').subarray(0, 10), hits: 0, notice: 'truncated' },
  'wrong checksum': { file: withWrongChecksum(gzip(THREE)), hits: 3, notice: 'crc_mismatch' },
  'wrong checksum, large': { file: withWrongChecksum(BIG_GZIP), hits: 80, notice: 'crc_mismatch' },
  'wrong checksum, then a member': {
    file: Buffer.concat([withWrongChecksum(BIG_GZIP), gzip(THREE)]),
    hits: 83,
    notice: 'crc_mismatch',
  },
  'wrong checksum, then the same member again': {
    file: Buffer.concat([withWrongChecksum(gzip(ONE)), gzip(ONE)]),
    hits: 2,
    notice: 'crc_mismatch',
  },
  'wrong checksum, then the same large member again': {
    file: Buffer.concat([withWrongChecksum(BIG_GZIP), BIG_GZIP]),
    hits: 160,
    notice: 'crc_mismatch',
  },
  'no checksum, then the same member again': {
    file: Buffer.concat([truncated(gzip(ONE), 8), gzip(ONE)]),
    // The second begins where the checksum of the first should end.
    hits: { atLeast: 2 },
    notice: 'crc_mismatch',
  },
  'hundreds of members': {
    file: Buffer.concat(Array.from({ length: sampled(300, 3_000) }, () => ONE_GZIP)),
    hits: sampled(300, 3_000),
    notice: null,
  },
  'empty members between large ones': {
    file: Buffer.concat([gzip(''), BIG_GZIP, members('', ''), BIG_GZIP, gzip('')]),
    hits: 160,
    notice: null,
  },
  'trailing garbage': {
    file: Buffer.concat([gzip(THREE), Buffer.from('garbage')]),
    hits: 3,
    notice: 'trailing_garbage',
  },
  'trailing garbage, large': {
    file: Buffer.concat([BIG_GZIP, Buffer.from('garbage')]),
    hits: 80,
    notice: 'trailing_garbage',
  },
  'a member behind garbage': {
    file: Buffer.concat([gzip(ONE), Buffer.from('garbage'), gzip(THREE)]),
    hits: 4,
    notice: 'trailing_garbage',
  },
  'zero padding': { file: Buffer.concat([gzip(THREE), Buffer.alloc(5_000)]), hits: 3, notice: null },
  'zero padding, large': { file: Buffer.concat([BIG_GZIP, Buffer.alloc(50_000)]), hits: 80, notice: null },
  'a member behind zeros': {
    file: Buffer.concat([BIG_GZIP, Buffer.alloc(512), gzip(THREE)]),
    hits: 83,
    notice: null,
  },
  'a torn member before another': {
    file: Buffer.concat([truncated(gzip(noise(50, 1)), 900), gzip(THREE)]),
    hits: { atLeast: 4 },
    notice: 'corrupt',
  },
  empty: { file: Buffer.alloc(0), hits: 0, notice: null },
  'NUL bytes in a line': { file: Buffer.from(`\0\0{"iccid":"\0${CARD}\0"}\n`), hits: 1, notice: null },
  'a hole at the start': {
    file: Buffer.concat([Buffer.alloc(20 * 1024 * 1024), Buffer.from(THREE)]),
    hits: 3,
    notice: null,
  },
  'broken UTF-8': {
    file: Buffer.from(`\xff\xfe\xc3 ${CARD} \xe5\xae\n`.slice(2), 'latin1'),
    hits: 1,
    notice: null,
  },
  'a byte order mark': { file: Buffer.from(`\ufeff${THREE}`), hits: 3, notice: null },
  'Windows line ends': { file: Buffer.from(THREE.replaceAll('\n', '\r\n')), hits: 3, notice: null },
  'no newline at the end': { file: Buffer.from(THREE.trimEnd()), hits: 3, notice: null },
  'no newline at the end, gzip': { file: gzip(THREE.trimEnd()), hits: 3, notice: null },
  'a line of 3 MB': {
    file: Buffer.from(`${'x'.repeat(3e6)}${CARD}${'y'.repeat(1e6)}${CARD}\n${ONE}`),
    hits: 2,
    notice: null,
  },
  'a line of 20 MB': { file: gzip(`${'x'.repeat(20e6)} ${CARD}\n${ONE}`), hits: 2, notice: 'long_line' },
  zstandard: { file: Buffer.from('28b52ffd0458', 'hex'), hits: 0, notice: 'not_searched' },
  bzip2: {
    file: Buffer.from('BZh91AY&SY\x9b\x8d\x0c\x17\0\0\x03\x5f\x80\0\x10\x10\x04', 'latin1'),
    hits: 0,
    notice: 'not_searched',
  },
  xz: { file: Buffer.from('fd377a585a000004', 'hex'), hits: 0, notice: 'not_searched' },
};

/** Logs for each way to inflate. */
const borders = temporaryDirectory('borders');
const SHIFTS = Array.from({ length: 64 }, (_, shift) => shift).filter((shift) => shift % sampled(5, 1) === 0);
beforeAll(() => {
  for (const shift of SHIFTS) {
    // Blocks of 1 MiB and slices of 32 KiB: the card lies across each border once.
    const before = `${'a'.repeat(1_048_576 - 41 + shift)}\n`;
    writeFileSync(join(borders, `plain-${shift}.log`), `${before}{"iccid":"${CARD}"}\n`);
    const stored = gzipSync(`${before}${CARD}\n`, { level: 0 });
    writeFileSync(join(borders, `stored-${shift}.log.gz`), stored);
  }
});

describe.each(firstRows(2, ['auto', 'zlib-sync', 'node'] as const))('inflating with %s', (inflate) => {
  const isCompressed = ({ file }: { file: Buffer }) => file[0] === 0x1f;
  const cases = Object.entries(CASES).filter(([, one]) => inflate === 'auto' || isCompressed(one));
  it.each(cases)('%s', async (_, { file, hits, notice }) => {
    const tree = new LogTree();
    tree.write('worker.log.1', file);
    const report = await tree.search({ iccid: CARD, inflate });
    if (typeof hits === 'object') {
      expect(report.hits).toBeGreaterThanOrEqual(hits.atLeast);
      expect(report.notices).not.toEqual([]);
    } else {
      expect(report.notices.map(({ code }) => code)).toEqual(notice === null ? [] : [notice]);
      expect(report.hits).toBe(hits);
    }
    const complete = notice === null;
    expect(exitCodeOf(report)).toBe(complete ? (report.hits > 0 ? 0 : 1) : 2);
  });

  it('loses no member behind a torn one, wherever it was torn', async () => {
    const tree = new LogTree();
    const other = (n: number) => `{"time":${1_769_904_000 + n},"iccid":"8986009999999999999","n":${n}}\n`;
    const torn = gzip(Array.from({ length: 1_000 }, (_, n) => other(n)).join(''));
    for (let at = 20; at < torn.length; at += sampled(115, 23)) {
      tree.write(`${at}.log.gz`, Buffer.concat([torn.subarray(0, at), gzip(THREE)]));
    }
    const report = await tree.search({ iccid: CARD, inflate });
    const whole = report.matching.filter(({ hits }) => hits === 3);
    expect(whole).toHaveLength(report.files.considered);
    expect(exitCodeOf(report)).toBe(2);
  });

  it('loses nothing before a flipped bit', async () => {
    const tree = new LogTree();
    const file = BIG_GZIP;
    const middle = Math.floor(file.length / 2);
    tree.write('worker.log.gz', Buffer.concat([withFlippedByte(file, middle), gzip(THREE)]));
    const report = await tree.search({ iccid: CARD, inflate });
    expect(report.hits).toBeGreaterThanOrEqual(36 + 3);
    expect(exitCodeOf(report)).toBe(2);
  });

  it('finds the card wherever a border between chunks falls', async () => {
    const { matching } = await new LogTree().search({ iccid: CARD, inflate, roots: [borders] });
    expect(matching.map(({ hits }) => hits)).toEqual(SHIFTS.flatMap(() => [1, 1]));
  });
});

describe('what is named .gz but does not begin as gzip does', () => {
  it.each([
    ['is empty, as after a power cut', Buffer.alloc(0), 0, 'truncated'],
    ['is all zeros, as after a power cut', Buffer.alloc(9_000), 0, 'corrupt'],
    ['has a flipped bit in its first byte', withFlippedByte(BIG_GZIP, 0, 1), 0, 'corrupt'],
    ['lacks its beginning', Buffer.concat([Buffer.alloc(4_096), gzip(THREE)]), 3, 'corrupt'],
    ['has one byte', BIG_GZIP.subarray(0, 1), 0, 'truncated'],
  ])('is not complete: %s', async (_, file, hits, notice) => {
    const tree = new LogTree();
    tree.write('worker.log.1.gz', file);
    const report = await tree.search({ iccid: CARD });
    expect(report.notices.map(({ code }) => code)).toEqual([notice]);
    expect([report.hits, exitCodeOf(report)]).toEqual([hits, 2]);
  });
});

describe('names mean nothing', () => {
  it('gzip named .log.1 and text named .gz', async () => {
    const tree = new LogTree();
    tree.write('a.log.1', gzip(THREE));
    tree.write('b.log.gz', ONE);
    tree.write('.hidden', ONE);
    tree.write('c.zst', ONE);
    const report = await tree.search({ iccid: CARD });
    expect([report.hits, report.files.searched, exitCodeOf(report)]).toEqual([6, 4, 0]);
  });
});

describe('each file once', () => {
  it('nested and repeated roots, links, loops', async () => {
    const tree = new LogTree();
    tree.write('a/b/worker.log', THREE);
    mkdirSync(tree.path('outside'));
    symlinkSync(tree.path('a/b/worker.log'), tree.path('outside/link.log'));
    symlinkSync(tree.root, tree.path('a/loop'));
    const roots = [tree.path('a'), tree.root, tree.path('a/b'), tree.path('a'), tree.path('outside')];
    const report = await tree.search({ iccid: CARD, roots });
    expect([report.hits, report.files.considered]).toEqual([3, 1]);
    expect(report.matching.map(({ path }) => path)).toEqual([tree.path('a/b/worker.log')]);
    expect((await tree.search({ iccid: CARD, roots: [tree.path('outside')] })).hits).toBe(3);
  });

  it('x and x.gz with the same data', async () => {
    const tree = new LogTree();
    tree.write('worker.log.1', THREE);
    tree.write('worker.log.1.gz', gzip(THREE));
    tree.write('big.log.1', BIG);
    tree.write('big.log.1.gz', truncated(BIG_GZIP, 5_000));
    tree.write('grown.log', THREE + ONE);
    tree.write('grown.log.gz', gzip(THREE));
    tree.write('other.log', THREE);
    tree.write('other.log.gz', gzip(`${ONE}${THREE}`));
    const report = await tree.search({ iccid: CARD });
    expect(report.hits).toBe(3 + 80 + 4 + 3 + 4);
    expect(report.notices.map(({ code }) => code)).toEqual(['duplicate', 'duplicate', 'duplicate']);
    expect(exitCodeOf(report)).toBe(0);
  });

  it('x with the beginning of x.gz, as an interrupted gunzip leaves it', async () => {
    const tree = new LogTree();
    tree.write('worker.log.1', BIG.slice(0, 1_000_001));
    tree.write('worker.log.1.gz', BIG_GZIP);
    tree.write('damaged.log.1', BIG.slice(0, 500_000));
    tree.write('damaged.log.1.gz', truncated(BIG_GZIP, 5_000));
    tree.write('members.log.1', ONE);
    tree.write('members.log.1.gz', members(ONE, THREE));
    const report = await tree.search({ iccid: CARD });
    expect(report.hits).toBe(80 + 80 + 4);
    expect(report.notices.filter(({ code }) => code === 'duplicate')).toEqual(
      ['damaged', 'members', 'worker'].map((name) => ({
        path: tree.path(`${name}.log.1`),
        code: 'duplicate',
        detail: `same data as ${tree.path(`${name}.log.1.gz`)}`,
      })),
    );
  });
});

describe('what is no file', () => {
  it('is skipped: FIFOs, sockets, dangling links', async () => {
    const tree = new LogTree();
    tree.write('worker.log', ONE);
    execFileSync('mkfifo', [tree.path('pipe')]);
    symlinkSync(tree.path('nowhere'), tree.path('dangling'));
    const server = createServer().listen(tree.path('socket'));
    onTestFinished(() => void server.close());
    await new Promise((resolve) => server.once('listening', resolve));
    const report = await tree.search({ iccid: CARD });
    expect([report.hits, report.files.special, exitCodeOf(report)]).toEqual([1, 2, 0]);
    expect(report.notices.map(({ code }) => code)).toEqual(['dangling_link']);
  });

  it('is named when it is a root', async () => {
    const tree = new LogTree();
    execFileSync('mkfifo', [tree.path('pipe')]);
    for (const root of [tree.path('pipe'), '/dev/null']) {
      const report = await tree.search({ iccid: CARD, roots: [root] });
      expect(report.notices).toMatchObject([{ path: root, code: 'not_searched' }]);
      expect([report.hits, report.files.special, exitCodeOf(report)]).toEqual([0, 1, 2]);
    }
  });

  it('a missing root is an error, a wrong one says what to type', async () => {
    const tree = new LogTree();
    await expect(tree.search({ iccid: CARD, roots: [tree.path('no')] })).rejects.toMatchObject({
      kind: 'input_missing',
      hint: expect.stringContaining('--roots'),
    });
  });
});

describe('files that change during the search', () => {
  /** The plan is made and the first file read before `change` runs; files are searched largest first. */
  async function searchWhile(tree: LogTree, change: () => void) {
    tree.write('first/first.log', `${'x'.repeat(40 * 1024 * 1024)}\n`);
    const searching = tree.search({ iccid: CARD });
    change();
    return searching;
  }

  it('renamed by a rotation', async () => {
    const tree = new LogTree();
    tree.write('worker.log', THREE);
    const report = await searchWhile(tree, () => {
      renameSync(tree.path('worker.log'), tree.path('worker.log.1'));
      writeFileSync(tree.path('worker.log'), ONE);
    });
    expect([report.hits, exitCodeOf(report)]).toEqual([3, 0]);
  });

  it('compressed after a rotation', async () => {
    const tree = new LogTree();
    tree.write('worker.log.1', THREE);
    const report = await searchWhile(tree, () => {
      tree.write('worker.log.1.gz', gzip(THREE));
      rmSync(tree.path('worker.log.1'));
    });
    expect([report.hits, exitCodeOf(report)]).toEqual([3, 0]);
  });

  it('compressed, with the inode given to another log', async () => {
    const tree = new LogTree();
    tree.write('worker.log.1', THREE);
    const report = await searchWhile(tree, () => {
      tree.write('worker.log.1.gz', gzip(THREE));
      rmSync(tree.path('worker.log.1'));
      tree.write('api.log.1', ONE);
    });
    expect([report.hits, exitCodeOf(report)]).toEqual([3, 0]);
  });

  it('compressed, begun before the search and ended after it', async () => {
    const tree = new LogTree();
    tree.write('worker.log.1', THREE);
    tree.write('worker.log.1.gz', '');
    const report = await searchWhile(tree, () => void tree.write('worker.log.1.gz', gzip(THREE)));
    expect([report.hits, exitCodeOf(report)]).toEqual([3, 0]);
  });

  it('removed', async () => {
    const tree = new LogTree();
    tree.write('worker.log', THREE);
    const report = await searchWhile(tree, () => rmSync(tree.path('worker.log')));
    expect([report.hits, exitCodeOf(report)]).toEqual([3, 0]);
  });

  it('removed, where no more files may be open', async () => {
    const tree = new LogTree();
    const path = tree.write('worker.log', THREE);
    const { dev, ino, size, mtimeMs } = statSync(path);
    const task = { ...{ path, dev, ino, size, mtimeMs }, fd: null, number: 0 };
    const query = parseQuery({ roots: [], iccid: CARD });
    const control = { isStopped: () => false, progress: () => {} };
    const find = () => findHits({ query, runDirectory: null })(task, control);
    expect(await find()).toMatchObject({ counts: { hits: 3 }, problems: [] });
    renameSync(tree.write('other.log', THREE), path);
    expect(await find()).toMatchObject({ counts: { hits: 0 }, problems: [{ code: 'vanished' }] });
    rmSync(path);
    expect(await find()).toMatchObject({ counts: { hits: 0 }, problems: [{ code: 'vanished' }] });
  });

  it('growing', async () => {
    const tree = new LogTree();
    tree.write('worker.log', THREE);
    const report = await searchWhile(tree, () => appendFileSync(tree.path('worker.log'), ONE));
    expect([3, 4]).toContain(report.hits);
    expect(exitCodeOf(report)).toBe(0);
  });

  it('truncated', async () => {
    const tree = new LogTree();
    const path = tree.write('worker.log', `${ONE}${'y'.repeat(80 * 1024 * 1024)}\n${ONE}`);
    const searching = tree.search({ iccid: CARD });
    // The file's first 32 MiB have been read by the time anyone else gets a turn.
    await new Promise((resolve) => setImmediate(resolve));
    truncateSync(path, 1_000);
    const report = await searching;
    expect(report.notices.map(({ code }) => code)).toContain('shrunk');
    expect([report.hits, exitCodeOf(report)]).toEqual([1, 2]);
  });
});

// FUZZ_SEED=N and FUZZ_RUNS=N have it look further.
describe('fuzz', () => {
  it('bits flipped in gzip files: never fewer hits than zgrep -a', async () => {
    const seed = Number(process.env.FUZZ_SEED ?? 1);
    const runs = Number(process.env.FUZZ_RUNS ?? sampled(2, 10));
    const random = seededRandom(seed);
    const tree = new LogTree();
    for (let run = 0; run < runs; run += 1) {
      const lines = 20 + Math.floor(random() * 3_000);
      let file: Buffer = members(noise(lines, 1 + Math.floor(random() * 20), run), noise(30, 3, run));
      for (let flips = 0; flips <= random() * 4; flips += 1) {
        file = withFlippedByte(file, Math.floor(random() * file.length), 1 << Math.floor(random() * 8));
      }
      const path = tree.write('fuzz.log.gz', file);
      const expected = zgrep(path);
      for (const inflate of ['auto', 'zlib-sync', 'node'] as const) {
        const report = await tree.search({ iccid: CARD, inflate });
        expect(report.hits, `seed ${seed} run ${run} ${inflate}`).toBeGreaterThanOrEqual(expected);
      }
    }
  });

  function zgrep(path: string): number {
    const pattern = `(^|[^0-9])${CARD}([0-9]?([^0-9]|$))`;
    try {
      return Number(
        execFileSync('bash', ['-c', `zgrep -a -c -E '${pattern}' "$0" 2>/dev/null`, path], {
          env: { ...process.env, LC_ALL: 'C' },
        }),
      );
    } catch (error) {
      return Number((error as { stdout: Buffer }).stdout.toString() || 0);
    }
  }
});
