// The dashboard on a real terminal over a real daemon: what an operator sees, presses and changes, and that the terminal
// is as before however it ends.
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { VERSION_HEADER } from '../../src/resources/endpoints.ts';
import { cliHere } from '../support/cli-here.ts';
import { Fleet } from '../support/fleet.ts';
import { freePort } from '../support/free-port.ts';
import { type RunningCli, runCli, waitFor } from '../support/processes.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { quoted } from '../support/terminal.ts';
import { Tmux, type TmuxOptions } from '../support/tmux.ts';

const BINARY = fileURLToPath(new URL('../../bin/cardpoll.js', import.meta.url));
const COMMAND = [process.execPath, BINARY].map(quoted).join(' ');
const BEFORE = 'what stood here before';

let fleet: Fleet;
let daemon: RunningCli;
let url: string;
let terminal: Tmux | null = null;

beforeAll(async () => {
  fleet = await Fleet.start();
  ({ process: daemon, url } = await fleet.startDaemon());
  await fleet.setIntervals(60);
  await fleet.importCards(200);
});
afterAll(() => fleet.close());
afterEach(async () => {
  await terminal?.close();
  terminal = null;
});

/** A shell in which something was done before, and then this command was typed. */
async function shellWith(command: string, options: TmuxOptions = {}): Promise<Tmux> {
  terminal = await Tmux.start(options);
  await terminal.type(`echo ${quoted(BEFORE)}`);
  await terminal.press('Enter');
  await terminal.waitFor(new RegExp(`^${BEFORE}$`, 'm'));
  await terminal.type(`${COMMAND} ${command}; echo ended with $?`);
  await terminal.press('Enter');
  return terminal;
}

/** The screen, the cursor and the line discipline are those of the shell again, and what was on the screen is there again. */
async function expectRestored(shell: Tmux, exitCode: number): Promise<void> {
  const screen = await shell.waitFor(/^ended with \d+$/m);
  expect(screen).toMatch(new RegExp(`^ended with ${exitCode}$`, 'm'));
  expect(screen).toMatch(new RegExp(`^${BEFORE}$`, 'm'));
  expect(screen).not.toMatch(/POLLS\/S/);
  expect([await shell.knows('alternate_on'), await shell.knows('cursor_flag')]).toEqual(['0', '1']);
  await shell.type('stty -a | tr " " "\\n" | grep -cE "^(icanon|echo|isig)$"');
  await shell.press('Enter');
  await shell.waitFor(/^3$/m);
}

async function limitOf(taskType: string): Promise<number> {
  const answer = await fetch(`${url}/api/admin/polling-concurrency`);
  const { items } = (await answer.json()) as { items: { task_type: string; max_concurrency: number }[] };
  return items.find(({ task_type }) => task_type === taskType)?.max_concurrency ?? 0;
}

it('opens, leads through the views, changes a limit and leaves everything as it was', async () => {
  const before = await limitOf('carddata');
  const shell = await shellWith(`dashboard --url ${url}`);
  const first = await shell.waitFor(/● live/);
  expect(await shell.knows('alternate_on')).toBe('1');
  expect(first).toMatch(/realname.*\n.*carddata.*\n.*package/);
  expect(first.split('\n').slice(0, 23).join('')).not.toContain(BEFORE);

  await shell.press('j', 'Enter');
  await shell.waitFor(/^cardpoll {2}carddata[\s\S]*p95 /);
  await shell.press('3');
  await shell.waitFor(/^cardpoll {2}alerts/);
  await shell.press('4');
  await shell.waitFor(/^cardpoll {2}triggers/);
  await shell.press('5');
  await shell.waitFor(new RegExp(`^cardpoll {2}instances[\\s\\S]*${daemon.pid}`));
  await shell.press('Tab');
  await shell.waitFor(/^cardpoll {2}configs[\s\S]* enabled/);
  await shell.press('/');
  await shell.paste('no such config\n');
  await shell.press('Enter');
  await shell.waitFor(/ 0 of \d+ {2}\/no such config/);
  await shell.press('Escape');
  await shell.waitFor(/^cardpoll {2}configs[\s\S]* enabled/);
  await shell.press('c');
  await shell.type('42');
  await shell.press('Enter');
  await shell.waitFor(/^cardpoll {2}card[\s\S]*card 42 *\n[\s\S]*realname[\s\S]*cardpoll logs/);
  await shell.press('?');
  await shell.waitFor(/Keys that change something/);
  await shell.press('Escape', 'Escape');
  await shell.waitFor(/^cardpoll {2}configs/);
  await shell.press('Escape');
  await shell.waitFor(/^cardpoll {2}overview/);

  await shell.press('L');
  await shell.waitFor(/New limit of carddata/);
  await shell.type(`${before + 7}`);
  await shell.press('Enter');
  // The last line is painted last.
  const asked = await shell.waitFor(/^y do it/m);
  expect(asked).toContain(`Limit of carddata: ${before} -> ${before + 7}`);
  expect(asked).toContain(`same as: cardpoll concurrency set carddata ${before + 7}`);
  expect(asked).toContain('For 200 cards');
  expect(await limitOf('carddata')).toBe(before);
  await shell.press('y');
  await waitFor(async () => (await limitOf('carddata')) === before + 7, { what: 'the limit to be in force' });
  await shell.waitFor(new RegExp(`limit of carddata: ${before} -> ${before + 7}`));

  await shell.press('q');
  await expectRestored(shell, 0);
});

it('follows the size of the terminal, and wipes no scrollback', async () => {
  const shell = await shellWith(`top --url ${url}`, { columns: 100, rows: 30 });
  await shell.waitFor(/● live/);
  for (const [columns, rows] of [
    [60, 15],
    [120, 40],
    [80, 16],
    [80, 24],
  ] as const) {
    await shell.resize(columns, rows);
    // One header and one help line, each in its place: nothing of the old size is left.
    await waitFor(
      async () => {
        const lines = (await shell.screen()).replace(/\n$/, '').split('\n');
        const heads = lines.flatMap((line, i) => (line.startsWith('cardpoll  overview') ? [i] : []));
        const keys = lines.flatMap((line, i) => (line.startsWith('q quit') ? [i] : []));
        const isWide = Math.max(...lines.map(({ length }) => length)) <= columns;
        return heads.join() === '0' && keys.join() === String(rows - 2) && isWide;
      },
      { what: `a whole screen of ${columns}x${rows}`, everyMs: 50 },
    );
  }
  await shell.resize(59, 24);
  await shell.waitFor(/^need 60x15, this is 59x24/);
  await shell.resize(80, 24);
  await shell.waitFor(/● live/);
  await shell.press('C-c');
  await expectRestored(shell, 130);
  expect(await shell.scrollback()).toContain(BEFORE);
});

it('takes a paste for text, never for keys', async () => {
  const before = await limitOf('realname');
  const shell = await shellWith(`dashboard --url ${url}`);
  await shell.waitFor(/● live/);
  await shell.paste('L5\ny');
  await shell.press('/');
  await shell.paste('42');
  await shell.waitFor(/Card id or ICCID: 42/);
  await shell.press('Enter');
  await shell.waitFor(/^cardpoll {2}card[\s\S]*card 42\n/);
  expect(await limitOf('realname')).toBe(before);
  await shell.press('q');
  await expectRestored(shell, 0);
});

it.each([
  ['SIGTERM', 143],
  ['SIGINT', 130],
  ['SIGHUP', 129],
] as const)('gives the terminal back after %s', async (signal, exitCode) => {
  const shell = await shellWith(`dashboard --url ${url}`);
  await shell.waitFor(/● live/);
  process.kill(await shell.foreground(), signal);
  await expectRestored(shell, exitCode);
});

it.each<[string, (shell: Tmux) => Promise<unknown>]>([
  ['Ctrl-Z', (shell: Tmux) => shell.press('C-z')],
  ['Ctrl-Z in a question', (shell: Tmux) => shell.press('R', 'C-z')],
  ['SIGTSTP', async (shell: Tmux) => process.kill(await shell.foreground(), 'SIGTSTP')],
])('gives the terminal to the shell with %s, and goes on after fg', async (_, suspend) => {
  const shell = await shellWith(`dashboard --url ${url}`);
  await shell.waitFor(/● live/);
  for (const [n, turn] of ['first', 'second'].entries()) {
    await suspend(shell);
    // The shell asks for a command only when the job has stopped.
    const stopped = new RegExp(`(?:(?:Suspended|Stopped)[^]*){${n + 1}}^[$#]$`, 'm');
    expect(await shell.waitFor(stopped)).toMatch(new RegExp(`^${BEFORE}$`, 'm'));
    expect([await shell.knows('alternate_on'), await shell.knows('cursor_flag')]).toEqual(['0', '1']);
    await shell.type(`echo ${turn} $(stty -a | tr " " "\\n" | grep -cE "^(icanon|echo|isig)$")`);
    await shell.press('Enter');
    await shell.waitFor(new RegExp(`^${turn} 3$`, 'm'));
    await shell.type('fg; echo left with $?');
    await shell.press('Enter');
    expect(await shell.waitFor(/● live/)).not.toContain(BEFORE);
    expect([await shell.knows('alternate_on'), await shell.knows('cursor_flag')]).toEqual(['1', '0']);
  }
  // A question that was open is still open.
  await shell.press('n', '3');
  await shell.waitFor(/^cardpoll {2}alerts/);
  await shell.press('q');
  await shell.waitFor(/^left with 0$/m);
  expect(await shell.knows('alternate_on')).toBe('0');
});

it('has the size after fg that the terminal got meanwhile', async () => {
  const shell = await shellWith(`dashboard --url ${url}`);
  await shell.waitFor(/● live/);
  await shell.press('C-z');
  await shell.waitFor(/(?:Suspended|Stopped)[\s\S]*^[$#]$/m);
  await shell.resize(59, 24);
  await shell.type('fg');
  await shell.press('Enter');
  await shell.waitFor(/^need 60x15, this is 59x24/);
});

it('goes on after Ctrl-Z where there is no shell that could bring it back', async () => {
  terminal = await Tmux.start();
  await terminal.type(`exec ${COMMAND} dashboard --url ${url}`);
  await terminal.press('Enter');
  await terminal.waitFor(/● live/);
  await terminal.press('C-z', '3');
  await terminal.waitFor(/^cardpoll {2}alerts/);
  expect([await terminal.knows('alternate_on'), await terminal.knows('cursor_flag')]).toEqual(['1', '0']);
});

it('has no colours with NO_COLOR, and says everything in words', async () => {
  const colours = new RegExp(`${String.fromCharCode(27)}\\[(?:\\d+;)*(?:3[0-8]|9[0-7])`);
  const plain = await shellWith(`dashboard --url ${url}`, { env: { NO_COLOR: '1' } });
  await plain.waitFor(/● live/);
  expect(await plain.screen({ styles: true })).not.toMatch(colours);
  await plain.close();
  const coloured = await shellWith(`dashboard --url ${url}`);
  await coloured.waitFor(/● live/);
  expect(await coloured.screen({ styles: true })).toMatch(colours);
});

it('is ASCII in the locale C', async () => {
  const shell = await shellWith(`dashboard --url ${url}`, { env: { LC_ALL: 'C' } });
  expect(await shell.waitFor(/\* live/)).toMatch(/^[ -~\n]*$/);
  await shell.press('j', 'Enter');
  expect(await shell.waitFor(/^cardpoll {2}carddata[\s\S]*p95 /)).toMatch(/^[ -~\n]*$/);
  await shell.press('q');
  await expectRestored(shell, 0);
});

/** A proxy between the dashboard and the daemon: it passes answers on, except those that a test replaces. */
async function standIn(replace: (...args: Parameters<RequestListener>) => boolean): Promise<string> {
  const server = createServer(async (request, response) => {
    response.setHeader(VERSION_HEADER, '0.3.0');
    if (replace(request, response)) return;
    const answer = await fetch(`${url}${request.url}`);
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(await answer.text());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

it('gives the terminal back after an exception, and says what it was', async () => {
  let isMad = false;
  const mad = await standIn((request, response) => {
    if (!isMad || request.url !== '/api/admin/polling-stats') return false;
    response.end('{"tasks": "none", "generated_at": 7}');
    return true;
  });
  const shell = await shellWith(`dashboard --url ${mad}`);
  await shell.waitFor(/● live/);
  isMad = true;
  await expectRestored(shell, 70);
  expect(await shell.screen()).toContain('cardpoll: unexpected error');
});

it('greys what a token that only reads may not do', async () => {
  const viewers = await standIn(({ url: path }, response) => {
    if (path !== '/api/admin/whoami') return false;
    const answer = JSON.stringify({ name: 'night-shift', role: 'viewer' });
    response.writeHead(200, { 'content-type': 'application/json' }).end(answer);
    return true;
  });
  const shell = await shellWith(`dashboard --url ${viewers}`, { env: { CARDPOLL_TOKEN: 'viewer-token' } });
  await shell.waitFor(/this token may only read/);
  await shell.press('R');
  await shell.press('?');
  const help = await shell.waitFor(/Keys that change something/);
  expect(help).not.toContain('Running count');
});

describe('--once', () => {
  it('says whose fleet it shows', async () => {
    const home = temporaryDirectory('dashboard');
    const env = { XDG_CONFIG_HOME: home };
    await cliHere(['context', 'add', 'lab', '--url', url], { env });
    const { stdout } = await cliHere(['dashboard', '--once'], { env });
    expect(stdout).toContain(`lab (${url})`);
  });

  it('prints the first screen without a terminal, within its columns', async () => {
    const { code, stdout, stderr } = await runCli(['dashboard', '--once', '--url', url], {
      env: { COLUMNS: '70' },
    });
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/^cardpoll {2}overview.*\n [●▲✖] \w+ /);
    expect(stdout).toMatch(/^cleanup +has never run$/m);
    expect(Math.max(...stdout.split('\n').map(({ length }) => length))).toBeLessThanOrEqual(70);
  });

  it('-o json prints its data', async () => {
    const { stdout } = await cliHere(['top', '--once', '-o', 'json', '--url', url]);
    expect(JSON.parse(stdout)).toMatchObject({
      overview: { cards_total: 200 },
      history: { step_seconds: 1 },
      firing: { items: [] },
      cleanup: { status: 'idle' },
      problems: [],
    });
  });

  it.each([
    [
      ['dashboard'],
      'the dashboard needs a terminal whose cursor moves (hint: print it with `cardpoll dashboard --once`)',
    ],
    [['top', '-o', 'json'], '-o json needs --once'],
  ])('is what %j without a terminal points to', async (args, said) => {
    const { code, stderr } = await cliHere([...args, '--url', url]);
    expect(code).toBe(64);
    expect(stderr).toContain(said);
  });
});

describe('without the daemon', () => {
  it('keeps the last data and calls them stale, is back by itself, and ends well', async () => {
    const shell = await shellWith(`dashboard --url ${url}`);
    await shell.waitFor(/● live/);
    daemon.signal('SIGSTOP');
    const frozen = await shell.waitFor(/✖ (STALE|DISCONNECTED) +data \d+s old/);
    expect(frozen).toMatch(/realname.*\n.*carddata/);
    await shell.press('R');
    await shell.waitFor(/the daemon does not answer: nothing can be changed now/);
    daemon.signal('SIGCONT');
    await shell.waitFor(/● live/);

    daemon.signal('SIGKILL');
    const dead = await shell.waitFor(/✖ DISCONNECTED +data \d+s old, (next try in \d+s|asking)/);
    expect(dead).toMatch(/cannot reach the daemon/);
    expect(dead).toMatch(/realname.*\n.*carddata/);
    await shell.press('q');
    await expectRestored(shell, 0);
  });

  it('--once has nothing to print', async () => {
    const nobody = `http://127.0.0.1:${await freePort()}`;
    expect(await cliHere(['dashboard', '--once', '--url', nobody])).toMatchObject({ code: 69, stdout: '' });
  });
});

it('is what the demo shows on a terminal; quitting it ends the demo', async () => {
  const shell = await shellWith(`demo --cards 100 --listen 127.0.0.1:${await freePort()}`);
  await shell.waitFor(/● live/);
  await shell.press('q');
  await expectRestored(shell, 0);
});
