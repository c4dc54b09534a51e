// `npm run bench:log-parts`: what a log search spends its time on, on one thread: inflating with each library, checksums,
// finding the card, each against what it replaces. One gz file of 156 MB inflated, in memory-sized blocks; the best of five
// rounds. Its last line is JSON in milliseconds.
import { rmSync } from 'node:fs';
import * as zlib from 'node:zlib';
import { CardMatcher } from '../../src/log-search/match/card-matcher.ts';
import type { InflateChoice } from '../../src/log-search/model.ts';
import { FileBytes } from '../../src/log-search/read/file-bytes.ts';
import { crc32 } from '../../src/log-search/read/gzip/gzip-format.ts';
import { inflateFile } from '../../src/log-search/read/gzip/inflate.ts';
import { fastLibrary } from '../../src/log-search/read/gzip/inflaters.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { COMMON_CARD, makeLogs } from './log-corpus.ts';
import { printTable } from './table.ts';

const MEGABYTES = 156;
const ROUNDS = 5;
const BLOCK_BYTES = 262_144;
/** It begins as the others do. */
const ABSENT = COMMON_CARD.replace('567', '999');

export async function run(): Promise<void> {
  const root = temporaryDirectory('bench-log-parts');
  try {
    const corpus = await makeLogs(root, { files: 1, bytesAFile: MEGABYTES * 1e6, seed: 1 });
    const path = corpus.files[0] ?? '';
    const block = await firstBytes(path);
    const blocks = Math.floor(corpus.bytes / BLOCK_BYTES);
    const matcher = new CardMatcher(ABSENT);
    const every = (work: () => unknown) => best(async () => times(blocks, work));
    const result: Record<string, number> = {
      'inflate and check: handle of node:zlib': await inflating(path, 'auto'),
      'inflate and check: zlib-sync': await inflating(path, 'zlib-sync'),
      'inflate and check: streams of node:zlib': await inflating(path, 'node'),
      'checksum: as used': await every(() => crc32(block, 0)),
      'checksum: zlib.crc32': await every(() => zlib.crc32(block, 0)),
      'find: by samples, also in groups of four': await every(() => matcher.next(block, 0)),
      'find: Buffer.indexOf': await every(() => block.indexOf(ABSENT)),
    };
    printTable(
      [`${MEGABYTES} MB`, 'ms'],
      Object.entries(result).map(([name, ms]) => [name, String(ms)]),
    );
    process.stdout.write(`${JSON.stringify({ bench: 'log-parts', ...result })}\n`);
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

async function firstBytes(path: string): Promise<Buffer> {
  let head = Buffer.of();
  await eachChunk(path, 'node', (chunk) => {
    head = Buffer.concat([head, chunk]);
    return head.length < BLOCK_BYTES;
  });
  return head.subarray(0, BLOCK_BYTES);
}

async function inflating(path: string, choice: InflateChoice): Promise<number> {
  if (choice !== 'node' && fastLibrary(choice) === null) throw new Error(`${choice} is not there`);
  return best(() => eachChunk(path, choice, () => true));
}

async function eachChunk(
  path: string,
  choice: InflateChoice,
  data: (chunk: Buffer) => boolean,
): Promise<void> {
  using file = FileBytes.open(path);
  if (file === null) throw new Error(`${path} is gone`);
  await inflateFile(file, { data, isStopped: () => false, gap: () => {} }, choice);
}

async function best(work: () => Promise<void>): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let round = 0; round < ROUNDS; round += 1) {
    const startedMs = performance.now();
    await work();
    least = Math.min(least, performance.now() - startedMs);
  }
  return Math.round(least);
}

async function times(count: number, work: () => unknown): Promise<void> {
  for (let index = 0; index < count; index += 1) work();
}
