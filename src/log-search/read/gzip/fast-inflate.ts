// Inflates the members of a gzip file synchronously, as long as they are intact. Used by inflate.ts. The libraries report
// too little about errors and ends, so a member counts only when its trailer (checksum and length) follows its end.

import { setImmediate as nextTurn } from 'node:timers/promises';
import type { InflateChoice } from '../../model.ts';
import { type FileBytes, FileWindow } from '../file-bytes.ts';
import { crc32, findMember, readHeader, trailerOf } from './gzip-format.ts';
import { type InflateLibrary, type Inflater, libraryFor, OUTPUT_BYTES } from './inflate-library.ts';

/** A slice of a zip bomb inflates to a thousand times its size. */
const MAX_SLICE_BYTES = 32_768;
const MIN_SLICE_BYTES = 2_048;
/** Leaves space for slices that inflate to more than the previous one. */
const WANTED_OUTPUT_BYTES = OUTPUT_BYTES / 2;
/** Other work of the thread (drawing progress, noticing Ctrl-C) gets a turn after this many slices. */
const SLICES_A_TURN = 64;

/** Where inflated data goes. */
export interface InflateSink {
  /** The next data; valid only during the call. Returns false to stop. */
  data(chunk: Buffer): boolean;
  /** Whether to stop; asked while there is no data to pass on for long. */
  isStopped(): boolean;
  /** Data is missing here: the next data does not continue the previous one. */
  gap(): void;
}

/** A number: everything before this offset is verified; `redo`: the data so far may be wrong. */
type Reached = number | 'redo' | 'stopped';

/** Passes on the data of the members from the start of the file, as far as possible. */
export async function inflateFast(
  file: FileBytes,
  sink: InflateSink,
  choice: InflateChoice,
): Promise<Reached> {
  const library = libraryFor(choice);
  return library === null ? 0 : new FastInflate(library, file, sink).run();
}

class FastInflate {
  readonly #window: FileWindow;
  #slices = 0;

  constructor(
    private readonly library: InflateLibrary,
    private readonly file: FileBytes,
    private readonly sink: InflateSink,
  ) {
    this.#window = new FileWindow(file);
  }

  async run(): Promise<Reached> {
    let offset = 0;
    while (this.file.size - offset > this.library.minBytes) {
      const header = readHeader(this.#window, offset);
      const inflater = typeof header === 'number' ? this.library.make() : null;
      if (typeof header !== 'number' || inflater === null) break;
      try {
        const end = await this.#member(inflater, offset + header);
        if (typeof end === 'string') return end;
        offset = end;
      } finally {
        inflater.close();
      }
    }
    return offset;
  }

  /** @returns where the next member would begin. */
  async #member(inflater: Inflater, start: number): Promise<Reached> {
    let [offset, length, crc] = [start, 0, 0];
    let sliceBytes = MIN_SLICE_BYTES;
    const emit = (data: Buffer) => {
      crc = crc32(data, crc);
      length += data.length;
      return this.sink.data(data);
    };
    for (;;) {
      const slice = this.#window.some(offset, sliceBytes);
      if (slice.length === 0) return 'redo';
      const lengthBefore = length;
      const state = inflater.push(slice, emit);
      if (state === 'failed') return 'redo';
      if (state === 'stopped') return 'stopped';
      this.#slices += 1;
      if (this.#slices % SLICES_A_TURN === 0) await nextTurn();
      if (state === 'ended') {
        const trailer = trailerOf(crc, length);
        const end =
          inflater.endsAt === null
            ? this.#find(trailer, offset, slice.length)
            : this.#expect(trailer, offset + inflater.endsAt);
        return end ?? 'redo';
      }
      offset += slice.length;
      sliceBytes = nextSlice(slice.length, length - lengthBefore);
    }
  }

  #expect(trailer: Buffer, offset: number): number | null {
    return this.#window.all(offset, trailer.length).equals(trailer) ? offset + trailer.length : null;
  }

  /**
   * Finds the trailer of a member that ended somewhere in its last slice. A trailer after another header belongs to
   * another member with the same data.
   */
  #find(trailer: Buffer, offset: number, length: number): number | null {
    const bytes = this.#window.all(offset, length + trailer.length);
    const at = bytes.indexOf(trailer);
    return at === -1 || findMember(bytes.subarray(0, at), 0) !== -1 ? null : offset + at + trailer.length;
  }
}

function nextSlice(slice: number, output: number): number {
  const fitting = Math.floor((WANTED_OUTPUT_BYTES * slice) / Math.max(1, output));
  return Math.max(MIN_SLICE_BYTES, Math.min(MAX_SLICE_BYTES, fitting));
}
