// A terminal as an operator has it: tmux keeps the screen, a shell runs in it, keys are typed into it, and what stands on
// the screen is read back. For programs that take the whole screen; terminal.ts is enough for those that write lines.
// tmux is installed when it is missing. The server is this test's own, with a socket of its own.
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { endProcess, spawnOwned } from './owned-process.ts';
import { programPath } from './provision.ts';
import { temporaryDirectory } from './temporary-directory.ts';
import { waitFor } from './wait-for.ts';

export interface TmuxOptions {
  readonly columns?: number;
  readonly rows?: number;
  readonly env?: Readonly<Record<string, string>>;
}

const run = promisify(execFile);
const PANE = 'screen:0.0';

export class Tmux {
  private constructor(
    private readonly program: string,
    private readonly directory: string,
    private readonly server: ReturnType<typeof spawnOwned>,
  ) {}

  /** A shell on a screen of this size. */
  static async start({ columns = 80, rows = 24, env = {} }: TmuxOptions = {}): Promise<Tmux> {
    const program = programPath('tmux');
    const directory = temporaryDirectory('tmux');
    // In the foreground, so that it is ended with the test file like every other process.
    const server = spawnOwned(program, ['-D', '-u', '-S', join(directory, 's'), '-f', '/dev/null'], {
      env: { PATH: process.env.PATH, HOME: directory, LC_ALL: 'C.UTF-8', TERM: 'xterm', ...env },
      stdio: 'ignore',
    });
    const tmux = new Tmux(program, directory, server);
    const size = ['-x', String(columns), '-y', String(rows)];
    await waitFor(() => tmux.#command('new-session', '-d', '-s', 'screen', ...size, 'sh'), {
      what: 'tmux to start',
    });
    await tmux.waitFor(/^[$#]/m);
    return tmux;
  }

  /** Types text and names of keys: `Enter`, `Escape`, `C-c`. */
  async press(...keys: readonly string[]): Promise<void> {
    await this.#command('send-keys', '-t', PANE, ...keys);
  }

  async type(text: string): Promise<void> {
    await this.#command('send-keys', '-t', PANE, '-l', text);
  }

  /** Puts text in as a paste. */
  async paste(text: string): Promise<void> {
    await this.#command('set-buffer', text);
    await this.#command('paste-buffer', '-p', '-t', PANE);
  }

  /** The lines on the screen, without the blanks at their ends, which tmux 3.5 keeps otherwise; with `styles` also the sequences that colour them. */
  screen({ styles = false } = {}): Promise<string> {
    return this.#command('capture-pane', '-p', ...(styles ? ['-e'] : []), '-t', PANE);
  }

  /** Everything that has scrolled out of the screen, and the screen. */
  scrollback(): Promise<string> {
    return this.#command('capture-pane', '-p', '-S', '-', '-t', PANE);
  }

  /** Resolves with the screen once it shows the pattern. */
  async waitFor(pattern: RegExp): Promise<string> {
    let last = '';
    const shows = async () => {
      last = await this.screen();
      return pattern.test(last) ? last : null;
    };
    try {
      return await waitFor(shows, { everyMs: 50, what: `the screen to show ${pattern}` });
    } catch (error) {
      throw new Error(`${(error as Error).message}\n${last}`);
    }
  }

  async resize(columns: number, rows: number): Promise<void> {
    await this.#command('resize-window', '-t', 'screen', '-x', String(columns), '-y', String(rows));
  }

  /** What tmux knows of the terminal: `alternate_on`, `cursor_flag` ... */
  async knows(variable: string): Promise<string> {
    return (await this.#command('display-message', '-p', '-t', PANE, `#{${variable}}`)).trim();
  }

  /** Process id of what runs in the shell's foreground. */
  async foreground(): Promise<number> {
    const shell = await this.knows('pane_pid');
    return Number(readFileSync(`/proc/${shell}/task/${shell}/children`, 'utf8').trim().split(' ')[0]);
  }

  async close(): Promise<void> {
    await endProcess(this.server);
  }

  async #command(...args: readonly string[]): Promise<string> {
    // -N: a client that comes too early must not start a server of its own, which nobody would end.
    const { stdout } = await run(this.program, ['-N', '-u', '-S', join(this.directory, 's'), ...args]);
    return stdout;
  }
}
