// Lines as the text a terminal gets, made by Ink. Used by the session again and again, and by --once.
import { renderToString } from 'ink';
import type { Line } from './line.ts';
import { Screen } from './screen.tsx';

/** @returns one text a line, colours included where chalk has them. */
export function renderLines(lines: readonly Line[], columns: number): string[] {
  return lines.length === 0 ? [] : renderToString(<Screen lines={lines} />, { columns }).split('\n');
}

/** Lines of several views: who goes back to one finds it rendered. */
const KEPT_LINES = 400;

/** Renders frame after frame; what stood in one of the last is not rendered again, as most of it stays. */
export class FrameRenderer {
  #columns = 0;
  /** Line -> its text; what was shown last stands last. */
  readonly #known = new Map<string, string>();

  render(lines: readonly Line[], columns: number): string[] {
    if (columns !== this.#columns) this.#known.clear();
    this.#columns = columns;
    const keys = lines.map((line) => JSON.stringify(line));
    const fresh = new Map<string, Line>();
    for (const [i, line] of lines.entries()) {
      const key = keys[i] ?? '';
      if (!this.#known.has(key)) fresh.set(key, line);
    }
    const texts = renderLines([...fresh.values()], columns);
    for (const [i, key] of [...fresh.keys()].entries()) this.#known.set(key, texts[i] ?? '');
    const shown = keys.map((key) => this.#known.get(key) ?? '');
    this.#keep(keys, shown);
    return shown;
  }

  #keep(keys: readonly string[], shown: readonly string[]): void {
    for (const [i, key] of keys.entries()) {
      this.#known.delete(key);
      this.#known.set(key, shown[i] ?? '');
    }
    for (const key of this.#known.keys()) {
      if (this.#known.size <= KEPT_LINES) break;
      this.#known.delete(key);
    }
  }
}
