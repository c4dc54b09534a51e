// Chooses the library that inflates: the first of a choice that is installed and passes a test. Both need the test: one
// may be missing or not built, the other is internal to Node, which may change it.
import { deflateRawSync } from 'node:zlib';
import type { InflateChoice } from '../../model/query.ts';
import { type InflateLibrary, OUTPUT_BYTES } from './inflate-library.ts';
import { nodeLibrary } from './node-library.ts';
import { zlibSyncLibrary } from './zlib-sync-library.ts';

const LIBRARIES: Readonly<Record<InflateChoice, ReadonlyArray<() => InflateLibrary>>> = {
  auto: [nodeLibrary, zlibSyncLibrary],
  'zlib-sync': [zlibSyncLibrary],
  node: [],
};

const loaded = new Map<InflateChoice, InflateLibrary | null>();

/** The first library of the choice that is installed and works; null: none. */
export function libraryFor(choice: InflateChoice): InflateLibrary | null {
  const known = loaded.get(choice);
  if (known !== undefined) return known;
  const library = LIBRARIES[choice].reduce<InflateLibrary | null>(
    (found, load) => found ?? tryOut(load),
    null,
  );
  loaded.set(choice, library);
  return library;
}

/** Null when the library is not installed, or fails a test of all that fast-inflate.ts needs, also after an error. */
function tryOut(load: () => InflateLibrary): InflateLibrary | null {
  try {
    const library = load();
    return canInflate(library) && canFail(library) && canInflate(library) ? library : null;
  } catch {
    return null;
  }
}

function canInflate(library: InflateLibrary): boolean {
  const sample = Buffer.alloc(OUTPUT_BYTES + 1_000, 'a line to try it with\n');
  const deflated = Buffer.concat([deflateRawSync(sample, { level: 1 }), Buffer.from('behind')]);
  const inflater = library.make();
  let checked = 0;
  const check = (data: Buffer) => {
    const expected = sample.subarray(checked, checked + data.length);
    checked += data.length;
    return data.equals(expected);
  };
  const states = [deflated.subarray(0, 99), deflated.subarray(99)].map((part) => inflater?.push(part, check));
  inflater?.close();
  return states.join() === 'open,ended' && checked === sample.length;
}

function canFail(library: InflateLibrary): boolean {
  const inflater = library.make();
  const state = inflater?.push(Buffer.alloc(64, 0xff), () => true);
  inflater?.close();
  return state === 'failed';
}
