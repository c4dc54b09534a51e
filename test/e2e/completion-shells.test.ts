// The completion scripts in the real shells, on a terminal: TAB completes commands, options, their values, and names from
// the running daemon; without a daemon it is quiet.
import { execFileSync } from 'node:child_process';
import { existsSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { cliHere } from '../support/cli-here.ts';
import { firstRows } from '../support/effort.ts';
import { freePort } from '../support/free-port.ts';
import { BINARY, waitFor } from '../support/processes.ts';
import { programPath } from '../support/provision.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { quoted, Terminal } from '../support/terminal.ts';
import { CONFIG } from '../unit/cli/bodies.ts';
import { daemonThatSays, json } from '../unit/cli/cli-under-test.ts';

const SHELLS = [
  ['bash', '--norc --noprofile -i'],
  ['zsh', '-f -i'],
  ['fish', '--no-config -i'],
] as const;

const dir = temporaryDirectory('completion');
const PATH = `${dir}:${process.env.PATH}`;
beforeAll(() => symlinkSync(BINARY, join(dir, 'cardpoll')));

const named = (id: number, name: string) => ({ ...CONFIG, id, name });
const CONFIGS = { items: [named(3, 'Package check'), named(4, 'VIP')], page: 1, page_size: 100, total: 2 };

describe.each(SHELLS)('%s', (shell, flags) => {
  const script = join(dir, `completion.${shell}`);
  const path = () => programPath(shell);

  async function shellWith(url: string): Promise<Terminal> {
    const env = { PATH, CARDPOLL_URL: url, HOME: dir, XDG_CONFIG_HOME: join(dir, 'config') };
    const terminal = new Terminal(`${path()} ${flags}`, { columns: 120, rows: 40, env });
    terminal.press(`cd ${quoted(dir)}; source ${quoted(script)}; echo load''ed\r`);
    await terminal.waitFor(/\bloaded\b/);
    return terminal;
  }

  beforeAll(async () => {
    const { code, stdout } = await cliHere(['completion', shell]);
    expect(code).toBe(0);
    writeFileSync(script, stdout);
    writeFileSync(join(dir, 'fleet.csv'), '');
  });

  it('reads the script without a word', () => {
    expect(execFileSync(path(), ['-n', script], { encoding: 'utf8', stdio: 'pipe' })).toBe('');
  });

  // Only the script for bash handles quotes; the other shells do.
  it.each(shell === 'bash' ? ['', '"'] : [''])(
    'runs no command in a name that it completes after %j',
    async (quote) => {
      // Whoever may name a config must not run commands in the shell of somebody else.
      const { url, requests } = await daemonThatSays(
        json({ ...CONFIGS, items: [named(5, 'Run$(touch made)')] }),
      );
      const terminal = await shellWith(url);
      terminal.press(`cardpoll configs enable ${quote}Run\t`);
      await waitFor(() => requests.length > 0, { what: 'the names to be asked for' });
      terminal.press(`${quote}\recho do''ne\r`);
      await terminal.waitFor(/\bdone\b/);
      terminal.press('\x15\x04');
      await terminal.ended();
      expect(existsSync(join(dir, 'made'))).toBe(false);
    },
  );

  it.each(
    firstRows(5, [
      ['concurrency res', /concurrency reset/],
      ['stats -o yam', /-o yaml/],
      ['cards import --undo-file=./fle', /et\.csv/],
      ['trigger single --task=packa', /packa.*ge/s],
      // What is typed already need not be drawn again.
      ['configs enable Pack', /age\\ check/],
      ['conc', /concurrency/],
      ['stats --wat', /stats --watch/],
      ['concurrency set real', /set realname/],
      ['cards import ./fle', /et\.csv/],
    ] satisfies Array<[string, RegExp]>),
  )('completes %j', async (typed, expected) => {
    const { url } = await daemonThatSays(json(CONFIGS));
    const terminal = await shellWith(url);
    terminal.press(`cardpoll ${typed}\t`);
    await terminal.waitFor(expected);
    terminal.press('\x15\x04');
    expect(terminal.written).not.toMatch(/parse error|not found|syntax error/i);
    await terminal.ended();
  });

  it('offers no name, and says nothing, without a daemon', async () => {
    const terminal = await shellWith(`http://127.0.0.1:${await freePort()}`);
    terminal.press('cardpoll configs enable Pack\t\x15echo still he""re\r');
    await terminal.waitFor(/still here/);
    expect(terminal.written).not.toMatch(/cannot reach|cardpoll: /);
    terminal.press('exit\r');
    await terminal.ended();
  });
});
