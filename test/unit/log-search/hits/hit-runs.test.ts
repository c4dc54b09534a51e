// Hits beyond memory: sorted runs on disk, merged in time order.
import { mkdirSync, readdirSync, readlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { HitRuns, makeRunDirectory, RunWriter } from '../../../../src/log-search/hits/hit-runs.ts';
import type { Hit } from '../../../../src/log-search/model.ts';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';

const OPEN_AT_MOST = 64;
const RUNS = 200;
const HITS_A_RUN = 7;

let directory: string;
beforeEach(() => {
  directory = temporaryDirectory('runs');
});
afterEach(() => {
  vi.unstubAllEnvs();
});

function hit(timeMs: number, file: number, offset: number): Hit {
  const line = Buffer.from(`line ${offset} of file ${file} at ${timeMs}`);
  return { timeMs, file, offset, line, interfaces: offset % 2 === 0 ? ['stop'] : [], cut: offset % 3 === 0 };
}

/** Four files; each run's times lie all over the day, many of them shared with other files and runs. */
function writeRuns(): { readonly paths: string[]; readonly hits: Hit[] } {
  const hits: Hit[] = [];
  const writers = Array.from({ length: 4 }, (_, file) => new RunWriter(join(directory, `hits-${file}`)));
  for (let run = 0; run < RUNS; run += 1) {
    const file = run % writers.length;
    for (let n = 0; n < HITS_A_RUN; n += 1) {
      const one = hit((run * 31 + n * 17) % 97, file, run * HITS_A_RUN + n);
      hits.push(one);
      writers[file]?.add(one);
    }
    writers[file]?.flush();
  }
  return { paths: writers.flatMap(({ paths }) => paths), hits };
}

/** By time, then file, then offset; said here again, in other words than those of the product. */
function inOrder(hits: readonly Hit[]): Hit[] {
  const key = ({ timeMs, file, offset }: Hit) =>
    [timeMs, file, offset].map((part) => String(part).padStart(9, '0')).join();
  return [...hits].sort((a, b) => (key(a) < key(b) ? -1 : 1));
}

function openFiles(): string[] {
  return readdirSync('/proc/self/fd')
    .map((fd) => {
      try {
        return readlinkSync(`/proc/self/fd/${fd}`);
      } catch {
        return ''; // the descriptor the listing itself used
      }
    })
    .filter((path) => path.startsWith(directory));
}

describe('more runs than may be open at a time', () => {
  it('lose nothing and come back in the order of time, file and offset', () => {
    const { paths, hits } = writeRuns();
    expect(paths).toHaveLength(RUNS);
    expect([...new HitRuns(paths, directory).inOrder()]).toEqual(inOrder(hits));
  });

  it('are never all open', () => {
    const { paths, hits } = writeRuns();
    const open: number[] = [];
    for (const _ of new HitRuns(paths, directory).inOrder()) open.push(openFiles().length);
    expect(open).toHaveLength(hits.length);
    expect(Math.max(...open)).toBeGreaterThan(1);
    expect(Math.max(...open)).toBeLessThanOrEqual(OPEN_AT_MOST);
    expect(openFiles()).toEqual([]);
  });

  it('can be read again, also after a reader left in the middle and by two at a time', () => {
    const { paths, hits } = writeRuns();
    const runs = new HitRuns(paths, directory);
    const [first] = runs.inOrder();
    expect(first).toEqual(inOrder(hits)[0]);
    expect(openFiles()).toEqual([]);
    const early = runs.inOrder();
    early.next();
    expect([...runs.inOrder()]).toEqual(inOrder(hits));
    expect([...early]).toEqual(inOrder(hits).slice(1));
    expect([...runs.inOrder()]).toEqual(inOrder(hits));
  });

  it('leave no more on disk than the hits themselves', () => {
    const { paths } = writeRuns();
    const runs = new HitRuns(paths, directory);
    for (const _ of runs.inOrder());
    expect(readdirSync(directory).length).toBeLessThanOrEqual(OPEN_AT_MOST);
  });
});

describe('a run', () => {
  it('gives back what went in, long lines and empty ones', () => {
    const writer = new RunWriter(join(directory, 'hits'));
    const lines = ['', 'x'.repeat(65_536 - 26), 'y'.repeat(3_000_000), '', 'z'];
    const hits = lines.map((text, n) => ({ ...hit(n, 1, n), line: Buffer.from(text) }));
    for (const one of hits) writer.add(one);
    writer.flush();
    const texts = [...new HitRuns(writer.paths, directory).inOrder()].map(({ line }) => line.toString());
    expect(texts.map((text) => text.length)).toEqual(lines.map((text) => text.length));
    expect(texts.join('|') === lines.join('|')).toBe(true); // a diff of it would be of no use
  });

  it('can be taken back', () => {
    const writer = new RunWriter(join(directory, 'hits'));
    writer.add(hit(1, 0, 0));
    writer.flush();
    writer.add(hit(2, 0, 1));
    writer.discard();
    writer.flush();
    expect(readdirSync(directory)).toEqual([]);
  });

  it('a run of nothing is no file', () => {
    const writer = new RunWriter(join(directory, 'hits'));
    writer.flush();
    expect(writer.paths).toEqual([]);
    expect([...new HitRuns([], directory).inOrder()]).toEqual([]);
  });
});

describe('a directory that cannot be written', () => {
  it('is named, with what to do', () => {
    const gone = join(directory, 'gone');
    const writer = new RunWriter(join(gone, 'hits'));
    writer.add(hit(1, 0, 0));
    expect(() => writer.flush()).toThrow(
      expect.objectContaining({ kind: 'io', message: expect.stringContaining(`${gone}: ENOENT`) }),
    );
    mkdirSync(gone);
    writer.flush();
    expect([...new HitRuns(writer.paths, gone).inOrder()]).toEqual([hit(1, 0, 0)]);
  });
});

it('what a killed search left goes with a search a day later, and nothing else does', () => {
  vi.stubEnv('TMPDIR', directory);
  const aDayAgo = new Date(Date.now() - 86_400_000 - 1_000);
  for (const name of ['cardpoll-logs-killed', 'cardpoll-logs-runs', 'other']) {
    mkdirSync(join(directory, name));
    writeFileSync(join(directory, name, 'hits-0-0'), '');
    if (name !== 'cardpoll-logs-runs') utimesSync(join(directory, name), aDayAgo, aDayAgo);
  }
  const own = makeRunDirectory();
  const names = ['cardpoll-logs-runs', 'other', own.slice(directory.length + 1)];
  expect(readdirSync(directory).sort()).toEqual(names.sort());
});
