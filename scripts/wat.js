// Translates WebAssembly text (.wat) into the bytes of its module. Used by build.js, man.js, test/vitest.config.ts and
// test/bench/run.js.
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

/** Lets esbuild import .wat files as the bytes of their modules. */
export const watPlugin = {
  name: 'wat',
  /** @param {import('esbuild').PluginBuild} build */
  setup: ({ onLoad }) =>
    onLoad({ filter: /\.wat$/ }, async ({ path }) => ({ contents: await assemble(path), loader: 'binary' })),
};
