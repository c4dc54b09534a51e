// Finds bytes in a block of memory three times as fast as Buffer.indexOf does, 16 positions at a time
// (docs/decisions/0027-find-with-simd.md).
// Used by card-matcher.ts on data that scan-file.ts and node-library.ts put in that block; one a thread, made when first
// asked for.
import program from './find-bytes.wat';

/** Node's types leave it to those of browsers. */
declare const WebAssembly: {
  readonly Module: new (program: Uint8Array) => object;
  readonly Instance: new (module: object) => { readonly exports: unknown };
};

interface Finder {
  readonly memory: { readonly buffer: ArrayBuffer };
  find(at: number, end: number, needleBytes: number): number;
}

/** The needle's place is in front of the room; longer ones are not looked for here. */
const NEEDLE_BYTES = 256;
const ROOM_BYTES = 1_048_576;

let finder: Finder | undefined;
let memory: Buffer | undefined;

function load(): Finder {
  finder ??= new WebAssembly.Instance(new WebAssembly.Module(program)).exports as Finder;
  return finder;
}

/** The block in which finding is fast: for whatever this thread scans at present. */
export function findingRoom(): Buffer {
  memory ??= Buffer.from(load().memory.buffer);
  return memory.subarray(NEEDLE_BYTES, NEEDLE_BYTES + ROOM_BYTES);
}

/** As `haystack.indexOf(needle, from)`. */
export function indexOfBytes(haystack: Buffer, needle: Buffer, from: number): number {
  if (memory === undefined || haystack.buffer !== memory.buffer || needle.length > NEEDLE_BYTES) {
    return haystack.indexOf(needle, from);
  }
  memory.set(needle, 0);
  const start = haystack.byteOffset;
  const at = load().find(start + from, start + haystack.length - needle.length + 1, needle.length);
  return at === -1 ? -1 : at - start;
}
