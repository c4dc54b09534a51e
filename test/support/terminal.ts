// A command on a pseudo-terminal, as an operator runs it: `script` of util-linux makes the terminal, keys reach the
// command through the terminal's own line discipline (Ctrl-C becomes a signal there), and what a screen would show is
// worked out from what was written. Knows only the controls that a progress line needs, and refuses others.
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { isRunning, spawnOwned } from './owned-process.ts';
import { programPath } from './provision.ts';
import { waitFor } from './wait-for.ts';

export interface TerminalOptions {
  readonly columns?: number;
  readonly rows?: number;
  readonly env?: Readonly<Record<string, string>>;
}

export class Terminal {
  readonly columns: number;
  /** Everything written to the terminal so far, controls included. */
  written = '';
  readonly #child: ChildProcess;

  /** @param commandLine for the shell, which it replaces. */
  constructor(commandLine: string, { columns = 80, rows = 24, env = {} }: TerminalOptions = {}) {
    this.columns = columns;
    const inside = `stty cols ${columns} rows ${rows}; exec ${commandLine}`;
    const args = ['--quiet', '--flush', '--return', '--command', inside, '/dev/null'];
    this.#child = spawnOwned(programPath('script', { debianPackage: 'bsdutils' }), args, {
      env: { ...process.env, SHELL: '/bin/sh', TERM: 'xterm', ...env },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    this.#child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.written += text;
    });
    this.#child.stdin?.on('error', () => {}); // it may end before it has read every key
  }

  /** Process id of the command itself. */
  get commandPid(): number {
    const pid = this.#child.pid ?? 0;
    return Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')[0]);
  }

  press(keys: string): void {
    this.#child.stdin?.write(keys);
  }

  async waitFor(pattern: RegExp): Promise<void> {
    const what = `the terminal to show ${pattern}`;
    await waitFor(() => pattern.test(this.written) || !isRunning(this.#child), { what });
    if (!pattern.test(this.written))
      throw new Error(`ended without ${pattern}: ${this.written.slice(-2_000)}`);
  }

  /** Resolves with the command's exit code, 128 + number for a signal. */
  async ended(): Promise<number | null> {
    if (isRunning(this.#child) || this.#child.stdout?.closed !== true) await once(this.#child, 'close');
    return this.#child.exitCode;
  }

  /** The lines of a screen without end, without the blank ones at its end. */
  get screen(): string[] {
    const screen = new Screen(this.columns);
    const [plain = '', ...erased] = this.written.split(ERASE_TO_END);
    screen.write(plain);
    for (const text of erased) {
      screen.eraseToEnd();
      screen.write(text);
    }
    return screen.texts;
  }
}

const ERASE_TO_END = '\x1b[K';

class Screen {
  readonly #lines: string[][] = [];
  #line: string[] = [];
  #column = 0;

  constructor(private readonly columns: number) {
    this.#newLine();
  }

  get texts(): string[] {
    const texts = this.#lines.map((line) => line.join('').trimEnd());
    while (texts.at(-1) === '') texts.pop();
    return texts;
  }

  write(text: string): void {
    for (const character of text) {
      if (character === '\r') this.#column = 0;
      else if (character === '\n') this.#newLine(this.#column);
      else if (/\p{Cc}/u.test(character)) {
        throw new Error(`the screen knows no ${JSON.stringify(character)}`);
      } else this.#put(character);
    }
  }

  eraseToEnd(): void {
    this.#line.length = Math.min(this.#line.length, this.#column);
  }

  #put(character: string): void {
    if (this.#column === this.columns) this.#newLine();
    while (this.#line.length < this.#column) this.#line.push(' ');
    this.#line[this.#column] = character;
    this.#column += 1;
  }

  #newLine(column = 0): void {
    this.#line = [];
    this.#lines.push(this.#line);
    this.#column = column;
  }
}

/** A word of a shell's command line. */
export function quoted(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}
