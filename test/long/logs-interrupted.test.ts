// `cardpoll logs` ended from outside: by signals, while it searches or prints, and by a reader that leaves.
// It ends at once, says nothing, and leaves nothing behind.
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync, statSync, truncateSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { beforeEach, describe, expect, it } from 'vitest';
import { BIG_LOG_CARD, writeBigLog } from '../support/big-log.ts';
import { LogTree } from '../support/log-tree.ts';
import { type RunningCli, spawnCli, waitFor } from '../support/processes.ts';
import { quoted } from '../support/terminal.ts';

const BINARY = fileURLToPath(new URL('../../bin/cardpoll.js', import.meta.url));
/** Far less than the padding of 20 GB takes to read, on any machine. */
const PROMPTLY_MS = 15_000;
const CARD = BIG_LOG_CARD;
const MEMBERS = 100;
const run = promisify(execFile);

let temporary: string;
beforeEach(() => {
  temporary = new LogTree().root;
});

function bigFiles(count: number, members = MEMBERS): LogTree {
  const tree = new LogTree();
  for (let n = 0; n < count; n += 1) writeBigLog(tree.path(`${n}.log.gz`), { members });
  return tree;
}

const search = (tree: LogTree, ...args: string[]) => tree.searchCommand(CARD, ...args);

/** So much the process has read: well beyond its own code, it is in the middle of its work. */
async function reading(process: RunningCli): Promise<void> {
  const bytes = () => Number(/rchar: (\d+)/.exec(readFileSync(`/proc/${process.pid}/io`, 'utf8'))?.[1]);
  await waitFor(() => bytes() > 60_000_000, { what: 'the search to be under way', everyMs: 2 });
}

const CODES = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

async function endsPromptly(process: RunningCli, signal: keyof typeof CODES): Promise<void> {
  const sentMs = performance.now();
  process.signal(signal);
  const { code, stderr } = await process.ended();
  expect({ code, stderr }).toEqual({ code: CODES[signal], stderr: '' });
  expect(performance.now() - sentMs).toBeLessThan(PROMPTLY_MS);
}

describe.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)('%s', (signal) => {
  it.each([
    ['a file on the main thread', 1],
    ['files on worker threads', 2],
  ] as const)('while %s is searched: no trace of it', async (_, files) => {
    const process = spawnCli(search(bigFiles(files), '--all'), { env: { TMPDIR: temporary } });
    await reading(process);
    expect(readdirSync(temporary)).toHaveLength(1);
    await endsPromptly(process, signal);
    expect(readdirSync(temporary)).toEqual([]);
  });

  it('while hits are printed to a file: no further line', async () => {
    const tree = new LogTree();
    tree.write(
      'a.log',
      `{"time":"2026-02-01T10:00:00Z","iccid":"${CARD}","x":"${'x'.repeat(900)}"}\n`.repeat(150_000),
    );
    const out = new LogTree().path('out');
    const line = `exec "$0" "$1" ${search(tree, '--all').map(quoted).join(' ')} >"$2"`;
    const started = run('bash', ['-c', line, process.execPath, BINARY, out], {
      env: { ...process.env, TMPDIR: temporary },
    });
    const { pid } = started.child;
    await waitFor(() => statSync(out).size > 0, { everyMs: 2 });
    const sentMs = performance.now();
    process.kill(pid ?? 0, signal);
    const { code, stderr } = await started.catch((error) => error);
    expect({ code, stderr }).toEqual({ code: CODES[signal], stderr: '' });
    expect(performance.now() - sentMs).toBeLessThan(PROMPTLY_MS);
    expect(statSync(out).size).toBeLessThan(statSync(tree.path('a.log')).size);
    expect(readdirSync(temporary)).toEqual([]);
  });
});

it('SIGINT while a file is compared with its compressed copy', async () => {
  const tree = bigFiles(1);
  await run('sh', ['-c', `gunzip -c ${quoted(tree.path('0.log.gz'))} >${quoted(tree.path('0.log'))}`]);
  const process = spawnCli(search(tree, '--count-only'));
  await reading(process);
  await endsPromptly(process, 'SIGINT');
});

it('SIGINT in gigabytes of zero padding', async () => {
  const tree = new LogTree();
  truncateSync(tree.write('padded.log.gz', gzipSync(`${CARD}\n`)), 20e9);
  const process = spawnCli(search(tree, '--count-only'));
  await reading(process);
  await endsPromptly(process, 'SIGINT');
});

describe('a reader that leaves', () => {
  it('ends --all at once, with nothing left behind', async () => {
    const tree = new LogTree();
    tree.write('a.log', `{"time":"2026-02-01T10:00:00Z","iccid":"${CARD}"}\n`.repeat(200_000));
    const line = `set -o pipefail; "$0" "$1" ${search(tree, '--all').map(quoted).join(' ')} | head -1`;
    const { stdout, stderr } = await run('bash', ['-c', line, process.execPath, BINARY], {
      env: { ...process.env, TMPDIR: temporary },
    });
    expect(stdout.split('\n')).toHaveLength(2);
    expect(stderr).toBe('');
    expect(readdirSync(temporary)).toEqual([]);
  });

  it('a slow reader gets every line, and no warning comes of it', async () => {
    const tree = new LogTree();
    tree.write('a.log', `{"time":"2026-02-01T10:00:00Z","iccid":"${CARD}"}\n`.repeat(100_000));
    const line = `"$0" "$1" ${search(tree, '--all', '-o', 'jsonl').map(quoted).join(' ')} | (dd bs=4k 2>/dev/null | wc -l)`;
    const { stdout, stderr } = await run('bash', ['-c', line, process.execPath, BINARY]);
    expect(stdout.trim()).toBe('100001');
    expect(stderr).toBe('');
  });
});
