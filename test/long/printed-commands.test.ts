// What README.md ("In production") and docs/runbook.md say to type, typed: the shell runs every line against a fleet of
// its own, set up as the README says. Paths and names of the pages are filled in from that fleet; nothing else is changed.
// test/unit/deploy/runbook.test.ts compares the flags of all pages with those of the binary.
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { demoIccid } from '../../src/gateway/simulate/simulated-fleet.ts';
import { Fleet } from '../support/fleet.ts';
import { freePort } from '../support/free-port.ts';
import { BINARY, type CliResult, type RunningCli, runCli, spawnCli, waitFor } from '../support/processes.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const CARDS = 50;
const TOKEN = 'printed-commands-admin-token';

/** Lines of the README that cannot be typed here, and what is done in their place. */
const NOT_TYPED = new Map([
  ['npm ci && npm run package:deb', 'npm run test:deb builds the package'],
  ['apt install ./packages/cardpoll_*.deb', 'npm run test:deb installs it in a root of its own'],
  ['editor /etc/cardpoll/cardpoll.yaml', 'the test writes the settings the line names'],
  ['systemctl start cardpoll', 'the test starts what ExecStart of the unit says, with its credentials'],
  ['man cardpoll-daemon', 'test/unit/cli/man-pages.test.ts reads every page with man'],
]);

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const withoutComment = (line: string) => line.replace(/ +# .*/, '');
const PRODUCTION = (read('README.md').split('\n## In production\n')[1]?.split('\n## ')[0] ?? '')
  .split('\n')
  .flatMap((line) => /^ {4}(\S.*)$/.exec(line)?.[1] ?? [])
  .map(withoutComment);
const RUNBOOK = [
  ...new Set(
    [...read('docs/runbook.md').matchAll(/^ {4,}(cardpoll .*)$|`(cardpoll (?!\.)[^`<]*)`/gm)].map(
      ([, block, inline]) => withoutComment(block ?? inline ?? ''),
    ),
  ),
];

let fleet: Fleet;
let env: Record<string, string>;
let filledIn: ReadonlyArray<readonly [printed: string | RegExp, here: string]>;
let url: string;

beforeAll(async () => {
  fleet = await Fleet.start();
  const { dir } = fleet;
  const port = await freePort();
  url = `http://127.0.0.1:${port}`;
  for (const name of ['bin', 'etc', 'credstore', 'prometheus', 'logs']) mkdirSync(join(dir, name));
  symlinkSync(BINARY, join(dir, 'bin', 'cardpoll'));
  symlinkSync(join(ROOT, 'deploy'), join(dir, 'deploy'));
  writeFileSync(join(dir, 'tokens'), `ann:admin:${TOKEN}\n`, { mode: 0o600 });
  const rows = Array.from({ length: CARDS }, (_, i) => `${i + 1},${demoIccid(i + 1)},1,1`);
  writeFileSync(join(dir, 'cards.csv'), ['card_id,iccid,carrier_id,status', ...rows, ''].join('\n'));
  const config = join(dir, 'etc', 'cardpoll.yaml');
  const settings = {
    redis_url: fleet.redisServer.url,
    database_url: fleet.databaseUrl,
    gateway: { url: fleet.gatewayUrl },
    stops: { mode: 'observe' },
    listen: `127.0.0.1:${port}`,
  };
  writeFileSync(config, JSON.stringify(settings), { mode: 0o600 });
  env = {
    PATH: `${join(dir, 'bin')}:${process.env.PATH}`,
    HOME: dir,
    XDG_CONFIG_HOME: join(dir, 'config'),
    CARDPOLL_URL: url,
    CARDPOLL_TOKEN: TOKEN,
    CARDPOLL_LOG_DIR: join(dir, 'logs'),
    CREDENTIALS_DIRECTORY: join(dir, 'credstore'),
  };
  filledIn = [
    ['/etc/cardpoll/cardpoll.yaml', config],
    // systemd hands the credential over under the name before the colon of LoadCredential.
    ['/etc/credstore/cardpoll.', `${join(dir, 'credstore')}/`],
    ['/etc/prometheus/', join(dir, 'prometheus')],
    ['/var/log/cardpoll', join(dir, 'logs')],
    ['https://poll.example', url],
    [/\b89860012345678901234\b/, demoIccid(1)],
    ['configs enable 5', 'configs enable 1'],
  ];
});
afterAll(() => fleet.close());

function here(line: string): string {
  return filledIn.reduce((text, [printed, value]) => text.replaceAll(new RegExp(printed, 'g'), value), line);
}

function type(line: string): Promise<CliResult> {
  return runCli(['-c', here(line)], { env, cwd: fleet.dir, program: ['sh'] });
}

/** There is no terminal to answer a question on; the reader of the runbook says yes. */
async function typeAndSayYes(line: string): Promise<CliResult> {
  const result = await type(line);
  return result.stderr.includes('this command asks for confirmation') ? type(`${line} --yes`) : result;
}

/** Those that answer a question with their exit code. */
function documentedCodes(line: string): number[] {
  if (line.startsWith('cardpoll doctor')) return [0, 1, 2];
  // 1: there was nothing to resume.
  if (line.startsWith('cardpoll stops resume')) return [0, 1];
  // 75: another line of the page has set the mode to observe.
  if (line.startsWith('cardpoll cards stop')) return [0, 75];
  return line.startsWith('cardpoll logs') ? [0, 1] : [0];
}

/** A daemon runs until it is ended: once it is one of the fleet. */
async function startAndEnd(line: string): Promise<void> {
  const daemon = spawnDaemon(line, `127.0.0.1:${await freePort()}`);
  await waitFor(async () => !daemon.running || (await instances()).includes(daemon.pid), { what: line });
  const { code, stderr } = await daemon.stop();
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
}

async function instances(): Promise<number[]> {
  const response = await fetch(`${url}/api/admin/polling-stats`, {
    headers: { authorization: `Bearer ${TOKEN}` },
  });
  const { workers } = (await response.json()) as { workers: Array<{ pid: number }> };
  return workers.map(({ pid }) => pid);
}

function spawnDaemon(line: string, listen?: string): RunningCli {
  return spawnCli(['-c', `exec ${here(line)}`], {
    env: { ...env, ...(listen === undefined ? {} : { CARDPOLL_LISTEN: listen }) },
    cwd: fleet.dir,
    program: ['sh'],
  });
}

async function startService(): Promise<void> {
  const unit = read('deploy/systemd/cardpoll.service');
  const command = /^ExecStart=\/usr\/bin\/(.*)$/m.exec(unit)?.[1] ?? '';
  const process = spawnDaemon(command);
  fleet.daemons.push({ process, url, logDir: join(fleet.dir, 'logs') });
  await waitFor(async () => !process.running || (await fetch(`${url}/readyz`)).ok, { what: 'readiness' });
  expect({ running: process.running, stderr: process.stderr }).toEqual({ running: true, stderr: '' });
}

describe('README.md, "In production"', () => {
  it('is typed but for what cannot be', () => {
    expect(PRODUCTION.length).toBeGreaterThan(NOT_TYPED.size);
    for (const line of NOT_TYPED.keys()) expect(PRODUCTION).toContain(line);
  });

  it.each(PRODUCTION)('%s', async (line) => {
    if (line === 'systemctl start cardpoll') return startService();
    if (NOT_TYPED.has(line)) return;
    const { code, stdout, stderr } = await type(line);
    expect(documentedCodes(line), `${stdout}${stderr}`).toContain(code);
    expect(stderr).not.toContain('unexpected error');
  });

  it('has led to a fleet whose API asks for the token and which polls', async () => {
    expect((await fetch(`${url}/api/admin/cards/1`)).status).toBe(401);
    expect(existsSync(join(fleet.dir, 'prometheus', 'cardpoll-rules.yaml'))).toBe(true);
    await waitFor(async () => (await fleet.truth()).requests > 0, { what: 'a card to be polled' });
  });
});

describe('docs/runbook.md', () => {
  /** The file and the context that the page takes for there. */
  beforeAll(async () => {
    writeFileSync(join(fleet.dir, '.cardpoll-prod'), `${TOKEN}\n`, { mode: 0o600 });
    await type(`cardpoll context add prod --url ${url} --token-file ~/.cardpoll-prod`);
  });

  it('has something to type', () => {
    expect(RUNBOOK.length).toBeGreaterThan(30);
  });

  it.each(RUNBOOK)('%s', async (line) => {
    if (line.startsWith('cardpoll daemon ')) return startAndEnd(line);
    const { code, stdout, stderr } = await typeAndSayYes(line);
    expect(documentedCodes(line), `${stdout}${stderr}`).toContain(code);
    expect(stderr).not.toContain('unexpected error');
  });
});
