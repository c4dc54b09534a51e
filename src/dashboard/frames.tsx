// Lines as the text a terminal gets, made by Ink. Used by the session again and again, and by --once.
import { renderToString } from 'ink';
import type { Line } from './line.ts';
import { Screen } from './screen.tsx';

/** @returns one text a line, colours included where chalk has them. */
export function renderLines(lines: readonly Line[], columns: number): string[] {
  return lines.length === 0 ? [] : renderToString(<Screen lines={lines} />, { columns }).split('\n');
}

/** Renders frame after frame; what stood in the last one is not rendered again, as most of it stays. */
export class FrameRenderer {
  #columns = 0;
  #known: ReadonlyMap<string, string> = new Map();

  render(lines: readonly Line[], columns: number): string[] {
    if (columns !== this.#columns) this.#known = new Map();
    this.#columns = columns;
    const keys = lines.map((line) => JSON.stringify(line));
    const fresh = new Map<string, Line>();
    for (const [i, line] of lines.entries()) {
      const key = keys[i] ?? '';
      if (!this.#known.has(key)) fresh.set(key, line);
    }
    const texts = renderLines([...fresh.values()], columns);
    const rendered = new Map([...fresh.keys()].map((key, i) => [key, texts[i] ?? '']));
    this.#known = new Map(keys.map((key) => [key, rendered.get(key) ?? this.#known.get(key) ?? '']));
    return keys.map((key) => this.#known.get(key) ?? '');
  }
}
