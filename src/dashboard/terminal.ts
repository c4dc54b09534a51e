// The terminal of the dashboard: alternate screen, no cursor, raw keys. Restores it however the dashboard ends, paints
// frames line by line, and names the keys that are pressed. Used by session.ts.
//
// Ink 6.8's own output is not used. It has no alternate screen, draws relative to the cursor, and wipes the scrollback when a
// terminal gets lower; it takes an arrow key whose bytes come in two pieces for Esc and text, and a paste for keys. A mounted
// Ink application took 2.0 times the CPU at rest on 120x40 (1.7 times on 200x60), and 3 to 10 times as long for a key.
import type { ReadStream, WriteStream } from 'node:tty';
import { USUAL_SIZE } from '../terminal/style.ts';

const ENTER = '\x1b[?1049h\x1b[?25l\x1b[?2004h\x1b[2J';
const LEAVE = '\x1b[?2004l\x1b[?25h\x1b[?1049l';
/** Terminals that support it show a frame at once. Others ignore it. */
const FRAME_BEGINS = '\x1b[?2026h';
const FRAME_ENDS = '\x1b[?2026l';
const CLEAR = '\x1b[2J';
const LINE_ENDS = '\x1b[0m\x1b[K';

export class Terminal {
  #shown: readonly string[] = [];
  #isOpen = false;
  #onResized = () => {};
  readonly #restore = () => this.close();
  /** Takes the terminal back after a stop, when the shell has changed its settings. */
  readonly #continued = () => {
    this.stdin.setRawMode(false).setRawMode(true);
    this.stdout.write(ENTER);
    this.#onResized();
    // The system reports a new size only to the job in the foreground, and Node reads it only on that signal.
    process.kill(process.pid, 'SIGWINCH');
  };
  readonly #stopped = () => this.yieldToShell();

  constructor(
    private readonly stdin: ReadStream,
    private readonly stdout: WriteStream,
    /** Converts a text to the characters of this terminal's locale, in as many columns. */
    private readonly inLocale: (text: string) => string,
  ) {}

  get size(): { readonly columns: number; readonly rows: number } {
    // A terminal that does not know its size reports 0 (script, expect, some containers).
    return { columns: this.stdout.columns || USUAL_SIZE.columns, rows: this.stdout.rows || USUAL_SIZE.rows };
  }

  /** @param onResized also called when the terminal's content may have changed. */
  open(onText: (text: string) => void, onResized: () => void): void {
    this.#isOpen = true;
    this.#onResized = onResized;
    this.stdout.on('resize', onResized);
    this.#watchStops();
    process.on('exit', this.#restore);
    process.on('uncaughtExceptionMonitor', this.#restore);
    this.stdin.setRawMode(true);
    this.stdin.setEncoding('utf8').on('data', onText).resume();
    this.stdout.write(ENTER);
  }

  /** Writes the lines that differ from the last frame. */
  paint(lines: readonly string[]): void {
    if (!this.#isOpen) return;
    const changed = lines.flatMap((line, i) =>
      line === this.#shown[i] ? [] : [`\x1b[${i + 1};1H${this.inLocale(line)}${LINE_ENDS}`],
    );
    this.#shown = lines;
    if (changed.length > 0) this.stdout.write(`${FRAME_BEGINS}${changed.join('')}${FRAME_ENDS}`);
  }

  /** Clears the screen, so that the next frame is painted as a whole. */
  clear(): void {
    this.#shown = [];
    if (this.#isOpen) this.stdout.write(CLEAR);
  }

  /** Gives the terminal to the shell, as Ctrl-Z does, and takes it back when the shell continues this process. */
  yieldToShell(): void {
    if (!this.#isOpen) return;
    this.#unwatchStops();
    this.#leave();
    // Stops the whole job here: the shell also waits for the program that started this process. If no shell could continue it,
    // the system ignores the signal, and the dashboard continues.
    process.kill(0, 'SIGTSTP');
    this.#watchStops();
    this.#continued();
  }

  #watchStops(): void {
    process.on('SIGTSTP', this.#stopped).on('SIGCONT', this.#continued);
  }

  #unwatchStops(): void {
    process.off('SIGTSTP', this.#stopped).off('SIGCONT', this.#continued);
  }

  #leave(): void {
    this.stdin.setRawMode(false);
    this.stdout.write(LEAVE);
  }

  /** Restores the terminal. May be called more than once, also while the process exits. */
  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.stdout.off('resize', this.#onResized);
    this.#unwatchStops();
    process.off('exit', this.#restore);
    process.off('uncaughtExceptionMonitor', this.#restore);
    this.stdin.removeAllListeners('data').pause();
    try {
      this.#leave();
    } catch {
      // The terminal is gone, so there is nothing to restore.
    }
  }
}

const SEQUENCES: Readonly<Record<string, string>> = {
  A: 'up',
  B: 'down',
  C: 'right',
  D: 'left',
  Z: 'shift-tab',
  '3~': 'backspace',
};
const CONTROLS: Readonly<Record<string, string>> = {
  '\r': 'return',
  '\n': 'return',
  '\t': 'tab',
  '\x7f': 'backspace',
  '\b': 'backspace',
  '\x1b': 'escape',
};
/** The tokens of keyboard input. The first match counts. */
const TOKENS = new RegExp(
  [
    String.raw`\x1b\[200~(?<pasted>.*?)\x1b\[201~`,
    // The beginning of a paste or of a control sequence (ECMA-48).
    String.raw`(?<pending>\x1b(?:\[200~.*|\[[0-?]*[ -/]*|O)?$)`,
    String.raw`\x1b(?:\[(?<sequence>[0-?]*[ -/]*[@-~])|O(?<letter>[@-~]))`,
    '(?<character>.)',
  ].join('|'),
  'gsu',
);

/**
 * Turns the bytes of a keyboard in raw mode into names of keys. A paste becomes a text, so that a clipboard never presses a key.
 * An unknown sequence is dropped as a whole and not read as characters.
 * @param text the pending text, followed by the next chunk.
 * @returns pending: the beginning of a sequence or a paste that may continue in the next chunk.
 */
export function keysIn(text: string) {
  const keys: ({ readonly key: string } | { readonly pasted: string })[] = [];
  for (const { groups = {} } of text.matchAll(TOKENS)) {
    const { pasted, pending, character, sequence, letter } = groups;
    if (pending !== undefined) return { keys, pending };
    const key = character === undefined ? SEQUENCES[sequence ?? letter ?? ''] : keyOf(character);
    if (pasted !== undefined) keys.push({ pasted });
    else if (key !== undefined) keys.push({ key });
  }
  return { keys, pending: '' };
}

/** The key of a pending text without further input: only Esc is possible. */
export function keyOfPending(pending: string): string | null {
  return pending === '\x1b' ? 'escape' : null;
}

function keyOf(character: string): string | undefined {
  const code = character.charCodeAt(0);
  const control = code >= 1 && code <= 26 ? `ctrl-${String.fromCharCode(code + 96)}` : undefined;
  return CONTROLS[character] ?? (/\p{Cc}/u.test(character) ? control : character);
}
