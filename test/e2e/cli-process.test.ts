// The built binary as a process: pipes that close, signals, exit codes, and how fast it starts.
import { execFile, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { promisify, stripVTControlCharacters } from 'node:util';
import { afterEach, describe, expect, it } from 'vitest';
import { VERSION_HEADER } from '../../src/resources/endpoints.ts';
import { freePort } from '../support/free-port.ts';
import { runCli, spawnCli, waitFor } from '../support/processes.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const BINARY = `${ROOT}bin/cardpoll.js`;
const VERSION: string = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8')).version;
const run = promisify(execFile);

let server: Server | null = null;
afterEach(() => {
  server?.close();
  server?.closeAllConnections();
  server = null;
});

async function serve(answer: RequestListener): Promise<{ CARDPOLL_URL: string }> {
  server = createServer((request, response) => {
    response.setHeader(VERSION_HEADER, '0.3.0');
    answer(request, response);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { CARDPOLL_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

/** More than a pipe holds, so that the binary is still writing when the reader leaves. */
const LIMITS = Array.from({ length: 20_000 }, (_, index) => ({
  task_type: `type-${index}`,
  max_concurrency: 100,
  effective_concurrency: 100,
  reason: null,
  current: index,
}));
const serveLimits = () => serve((_, response) => response.end(JSON.stringify({ items: LIMITS })));

/** Runs a shell line in which "$0" "$1" is the binary; resolves with what came out of the line and its exit code. */
async function shell(line: string, env: Record<string, string>) {
  const options = { env: { PATH: process.env.PATH, ...env }, timeout: 120_000 };
  return run('bash', ['--norc', '-o', 'pipefail', '-c', line, process.execPath, BINARY], options);
}

it('runs by its name alone, with room for the objects of cards in flight (decision 0039)', async () => {
  const says = 'data:text/javascript,console.error(process.execArgv.join())';
  const { stdout, stderr } = await run(BINARY, ['--version'], {
    env: { PATH: process.env.PATH, NODE_OPTIONS: `--import=${says}` },
  });
  expect(stdout).toBe(`cardpoll ${VERSION}\n`);
  expect(stderr).toBe('--max-semi-space-size=32\n');
});

describe('pipes', () => {
  it('| head -1 gets its line and neither noise nor a failure follows', async () => {
    const env = await serveLimits();
    // pipefail: the line succeeds only if the binary ended with 0 too.
    expect(await shell('"$0" "$1" concurrency -o tsv | head -1', env)).toEqual({
      stdout: 'type-0\t100\t0\t100\t-\n',
      stderr: '',
    });
    expect(await shell('"$0" "$1" concurrency -o yaml | head -1', env)).toEqual({
      stdout: 'items:\n',
      stderr: '',
    });
  });

  it('may close for errors too', async () => {
    const { stdout } = await shell('("$0" "$1" sttas; echo $?) 2>&1 | tail -1', {});
    expect(stdout).toBe('64\n');
    expect((await shell('"$0" "$1" --help 2>&1 | head -1', {})).stdout).toBe('Examples:\n');
  });

  it('stats --watch ends when its stdout is closed', async () => {
    const env = await serve((_, response) => response.end(JSON.stringify({ items: [], tasks: [] })));
    const { stderr } = await shell('"$0" "$1" stats tasks --watch --json | head -1', env);
    expect(stderr).toBe('');
  });

  it.each([
    ['--version', ''],
    ['--help', ''],
    ['concurrency', ''],
    ['concurrency -o json', ''],
    ['concurrency', ' 2>/dev/full'],
  ])('%s into a full disk%s: one line, if anything, and exit code 74', async (command, redirect) => {
    const env = await serveLimits();
    const { stdout, stderr } = await shell(`("$0" "$1" ${command} >/dev/full${redirect}); echo $?`, env);
    expect(stdout).toBe('74\n');
    const said = /^cardpoll: standard output cannot be written: ENOSPC[^\n]+\n$/;
    expect(stderr).toMatch(redirect === '' ? said : /^$/);
  });

  it('get everything, however much it is', async () => {
    const env = await serveLimits();
    const { stdout } = await shell('"$0" "$1" concurrency -o tsv | wc -l', env);
    expect(Number(stdout)).toBe(LIMITS.length);
  });
});

describe('terminals', () => {
  /** Runs the binary in a pseudo-terminal of this width against a daemon that takes its time; what the screen got. */
  async function screen(columns: number, argv: string): Promise<string> {
    const env = await serve((_, response) => {
      setTimeout(
        () =>
          response.end(
            '{"items":[{"task_type":"realname","max_concurrency":100,"current":5,"effective_concurrency":100,"reason":null}]}',
          ),
        1_000,
      );
    });
    const command = `stty cols ${columns}; exec "${process.execPath}" "${BINARY}" ${argv}`;
    const options = {
      env: { PATH: process.env.PATH, TERM: 'xterm', SHELL: '/bin/sh', ...env },
      timeout: 120_000,
    };
    return (await run('script', ['-qec', command, '/dev/null'], options)).stdout;
  }

  it('see a spinner while they wait, then a table', async () => {
    const seen = await screen(80, 'concurrency');
    expect(seen).toContain('reading limits');
    expect(stripVTControlCharacters(seen)).toMatch(
      /TASK +LIMIT +RUNNING +EFFECTIVE +REASON\s+realname +100 +5 /,
    );
  });

  it('terminals of unknown width get the table alone', async () => {
    const seen = await screen(0, 'concurrency');
    expect(seen).not.toContain('reading limits');
    expect(stripVTControlCharacters(seen)).toMatch(
      /TASK +LIMIT +RUNNING +EFFECTIVE +REASON\s+realname +100 +5 /,
    );
  });
});

describe('signals', () => {
  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('%s ends --watch quietly with %i', async (signal, code) => {
    const env = await serve((_, response) => response.end('{"items":[],"tasks":[]}'));
    const watch = spawnCli(['stats', 'tasks', '--watch', '--json'], { env });
    await watch.waitForLine(/items/);
    const result = await watch.stop(signal);
    expect(result).toMatchObject({ code, signal: null, stderr: '' });
  });

  it('SIGINT ends a command that waits for the daemon', async () => {
    let asked = false;
    const env = await serve(() => {
      asked = true;
    });
    const stats = spawnCli(['stats'], { env });
    await waitFor(() => asked, { what: 'the request' });
    expect(await stats.stop('SIGINT')).toMatchObject({ code: 130, signal: null, stdout: '', stderr: '' });
  });
});

describe('exit codes', () => {
  it('69 when the daemon is down, on one line', async () => {
    const url = `http://127.0.0.1:${await freePort()}`;
    const { code, stdout, stderr } = await runCli(['stats', '--url', url]);
    expect([code, stdout]).toEqual([69, '']);
    expect(stderr).toMatch(/^cardpoll: cannot reach [^\n]+\n$/);
  });

  it('78 for a configuration that cannot work', async () => {
    const { code, stderr } = await runCli(['daemon'], { env: { CARDPOLL_REDIS_URL: 'redis://127.0.0.1' } });
    expect(code).toBe(78);
    expect(stderr).toMatch(/database_url is not/);
    expect((await runCli(['stats'], { env: { CARDPOLL_TOKN: 'x' } })).code).toBe(78);
  });

  it('64 for a wrong command line', async () => {
    expect((await runCli(['sttas'])).code).toBe(64);
  });
});

describe('version', () => {
  it.each([[['--version']], [['-V']], [['-V', '--debug']]])('%j prints it', async (argv) => {
    expect(await runCli(argv)).toMatchObject({ code: 0, stdout: `cardpoll ${VERSION}\n`, stderr: '' });
  });

  it('names the commit of the build', async () => {
    const { stdout } = await runCli(['version', '-o', 'json', '--url', 'http://127.0.0.1:1']);
    const fromHistory = existsSync(`${ROOT}.git`) && spawnSync('git', ['--version']).status === 0;
    expect(JSON.parse(stdout).commit).toMatch(fromHistory ? /^[0-9a-f]{12}(-dirty)?$/ : /^unknown$/);
  });

  it('is there almost as fast as node itself', async () => {
    const measure = async (...args: string[]): Promise<number> => {
      const startMs = performance.now();
      await run(process.execPath, args);
      return performance.now() - startMs;
    };
    // One after the other, so that both see the same machine.
    const ratios: number[] = [];
    for (let round = 0; round < 5; round += 1) {
      const bareMs = await measure('-e', '0');
      ratios.push((await measure(BINARY, '--version')) / bareMs);
    }
    const ratio = ratios.sort((a, b) => a - b)[2];
    process.stdout.write(
      `cold start: --version takes ${ratio?.toFixed(2)} times what node -e 0 does (target 1.5)\n`,
    );
    // Loose on purpose: the machine runs other tests meanwhile. Loading one library by mistake costs a factor of 2.
    expect(ratio).toBeLessThan(2.5);
  });
});
