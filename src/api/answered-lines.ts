// An answer that is written while its request is read: lines now, and one at the end. Used by routes/card-import.ts.
import { PassThrough, type Readable } from 'node:stream';

export class AnsweredLines {
  readonly #text = new PassThrough();
  #begin = () => {};
  /** Resolves with the first line. */
  readonly begun = new Promise<void>((resolve) => {
    this.#begin = resolve;
  });

  get text(): Readable {
    return this.#text;
  }

  /** Resolves when the reader has room for more; rejects when it has left. */
  write(lines: string): Promise<void> {
    this.#begin();
    return new Promise((resolve, reject) => {
      this.#text.write(lines, (error) => (error ? reject(error) : resolve()));
    });
  }

  /** Ends the answer with this line, or breaks it off: its status has been sent by then. */
  endWith(last: Promise<string>): void {
    last.then(
      (line) => this.#text.end(line),
      (error) => this.#text.destroy(error),
    );
  }
}
