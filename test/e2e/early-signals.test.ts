// Signals before and after a daemon runs: while nothing but bin/cardpoll.js is loaded, and while it drains. The real bin/ and the real
// bundle, with a gate between them that the test opens.
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Fleet, type Program } from '../support/fleet.ts';
import { freePort } from '../support/free-port.ts';
import { REPOSITORY } from '../support/markdown.ts';
import { BINARY, spawnCli, waitFor } from '../support/processes.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

let fleet: Fleet;
beforeAll(async () => {
  fleet = await Fleet.start();
});
afterAll(() => fleet.close());

interface Gated {
  readonly program: Program;
  /** Whether bin/cardpoll.js has begun to load the bundle. */
  readonly loads: () => boolean;
  /** Whether bin/cardpoll.js has noted a SIGHUP: the process may see a signal later than the gate, which is opened next. */
  readonly notes: () => boolean;
  readonly open: () => void;
}

function gated(): Gated {
  const root = temporaryDirectory('gated');
  const [loading, noted, gate] = ['loading', 'noted', 'gate'].map((name) => join(root, name)) as [
    string,
    string,
    string,
  ];
  cpSync(join(REPOSITORY, 'bin'), join(root, 'bin'), { recursive: true });
  cpSync(join(REPOSITORY, 'package.json'), join(root, 'package.json'));
  mkdirSync(join(root, 'dist'));
  writeFileSync(
    join(root, 'dist/main.js'),
    `import { existsSync, writeFileSync } from 'node:fs';
     writeFileSync(${JSON.stringify(loading)}, '');
     export async function main(hangups) {
       while (!existsSync(${JSON.stringify(gate)})) {
         if (hangups.came) writeFileSync(${JSON.stringify(noted)}, '');
         await new Promise((done) => setTimeout(done, 10));
       }
       const bundle = await import(${JSON.stringify(pathToFileURL(join(REPOSITORY, 'dist/main.js')).href)});
       return bundle.main(hangups);
     }`,
  );
  return {
    program: [process.execPath, join(root, 'bin/cardpoll.js')],
    loads: () => existsSync(loading),
    notes: () => existsSync(noted),
    open: () => writeFileSync(gate, ''),
  };
}

it('a daemon that got SIGHUP before it loaded anything reloads once it runs, and once only', async () => {
  const { program, open, notes } = gated();
  const logDir = join(fleet.dir, `logs-${fleet.daemons.length}`);
  const started = fleet.startDaemon({}, program);
  const { pid } = await waitFor(() => fleet.daemons.at(-1)?.process, { what: 'the process' });
  await waitFor(() => catchesHangups(pid), { what: 'a listener for SIGHUP' });
  process.kill(pid, 'SIGHUP');
  await waitFor(notes, { what: 'the note of SIGHUP' });
  expect(existsSync(logDir)).toBe(false);
  open();
  const { process: daemon } = await started;
  expect(await daemon.stop()).toMatchObject({ code: 0, signal: null });
  expect(reloadsIn(logDir)).toBe(1);
});

it.each(['logs', 'dashboard'])(
  'a daemon reloads for SIGHUP where the value of an option is the command `%s`',
  async (name) => {
    writeFileSync(join(fleet.dir, name), 'log_level: info\n');
    const inItsDirectory = ['sh', '-c', 'cd "$0" && exec "$@"', fleet.dir] as const;
    const program: Program = [...inItsDirectory, process.execPath, BINARY, '--config', name];
    const { process: daemon, logDir } = await fleet.startDaemon({}, program);
    daemon.signal('SIGHUP');
    await waitFor(() => reloadsIn(logDir) === 1, { what: 'the reload' });
    expect(await daemon.stop()).toMatchObject({ code: 0, signal: null });
  },
);

it('a daemon that drains reopens its logs for SIGHUP, and reads no configuration', async () => {
  const { process: daemon, url, logDir } = await fleet.startDaemon({ CARDPOLL_API_DRAIN_DELAY_MS: '3000' });
  daemon.signal('SIGTERM');
  await waitFor(async () => (await fetch(`${url}/readyz`)).status === 503, { what: 'the drain' });
  renameSync(join(logDir, 'worker.log'), join(logDir, 'worker.log.1'));
  daemon.signal('SIGHUP');
  await waitFor(() => existsSync(join(logDir, 'worker.log')), { what: 'the new log' });
  expect(await daemon.ended()).toMatchObject({ code: 0, signal: null, stderr: '' });
  expect(['worker.log', 'worker.log.1'].map((name) => reloadsIn(logDir, name))).toEqual([0, 0]);
});

it('SIGHUP ends a demo as SIGTERM does, and its logs are removed', async () => {
  const TMPDIR = temporaryDirectory('demo');
  const listen = `127.0.0.1:${await freePort()}`;
  const demo = spawnCli(['demo', '--cards', '100', '--listen', listen], { env: { TMPDIR } });
  await demo.waitForLine(/^API on/);
  expect(readdirSync(TMPDIR)).toEqual([expect.stringMatching(/^cardpoll-demo-/)]);
  expect(await demo.stop('SIGHUP')).toMatchObject({ code: 0, signal: null });
  expect(readdirSync(TMPDIR)).toEqual([]);
});

it.each(['SIGTERM', 'SIGINT'] as const)('%s ends a daemon that is still being loaded', async (signal) => {
  const { program, loads } = gated();
  const daemon = spawnCli(['daemon'], { program });
  await waitFor(loads, { what: 'the bundle to be loaded' });
  expect(await daemon.stop(signal)).toMatchObject({ code: null, signal, stderr: '' });
});

it('SIGUSR1 opens no inspector, in any command', async () => {
  const { program, loads, open } = gated();
  const command = spawnCli(['--version'], { program });
  await waitFor(loads, { what: 'the bundle to be loaded' });
  command.signal('SIGUSR1');
  open();
  expect(await command.ended()).toMatchObject({ code: 0, signal: null, stderr: '' });
});

it.each([
  ['a command', ['context', 'list'], false],
  ['a command with the argument `daemon`', ['context', 'use', 'daemon'], true],
  ['a command of the context `daemon`', ['--context', 'daemon', 'dashboard'], true],
  ['a command that shows the card `daemon`', ['cards', 'show', 'daemon'], true],
  ['the help of the daemon', ['help', 'daemon'], true],
  ['a wrong command line', ['daemon', '--unknown'], true],
])('SIGHUP ends %s', async (_, args, isNoted) => {
  const { program, loads, notes, open } = gated();
  const command = spawnCli(args, { program, env: { XDG_CONFIG_HOME: fleet.dir } });
  await waitFor(loads, { what: 'the bundle to be loaded' });
  command.signal('SIGHUP');
  if (isNoted) {
    await waitFor(notes, { what: 'the note of SIGHUP' });
    open();
  }
  expect(await command.ended()).toMatchObject({ code: null, signal: 'SIGHUP' });
});

function reloadsIn(logDir: string, name = 'worker.log'): number {
  return readFileSync(join(logDir, name), 'utf8').split('"configuration reloaded"').length - 1;
}

/** SigCgt has a bit for each signal; SIGHUP is the first. */
function catchesHangups(pid: number): boolean {
  const [, mask = '0'] = /^SigCgt:\s*([0-9a-f]+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return (BigInt(`0x${mask}`) & 1n) === 1n;
}
