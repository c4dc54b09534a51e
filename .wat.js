// Translates WebAssembly text (.wat) into the bytes of its module. Used by .build.js and test/vitest.config.ts.
import { readFile } from 'node:fs/promises';
import loadWabt from 'wabt';

/**
 * @param {string} path
 * @returns {Promise<Uint8Array>}
 */
export async function assemble(path) {
  const wabt = await loadWabt();
  const program = wabt.parseWat(path, await readFile(path, 'utf8'), { simd: true });
  try {
    program.validate();
    return program.toBinary({}).buffer;
  } finally {
    program.destroy();
  }
}
