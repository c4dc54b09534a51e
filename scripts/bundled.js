// How src/ is bundled: Lua, SQL, YAML and shell files become strings, WebAssembly text (.wat) the bytes of its module. Used by
// build.js, man.js, test/asset-files.ts and test/bench/run.js.
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
const watPlugin = {
  name: 'wat',
  /** @param {import('esbuild').PluginBuild} build */
  setup: ({ onLoad }) =>
    onLoad({ filter: /\.wat$/ }, async ({ path }) => ({ contents: await assemble(path), loader: 'binary' })),
};

/** Files that become strings. */
export const TEXTS = ['.lua', '.sql', '.yaml', '.bash', '.zsh', '.fish'];

/** Options of esbuild. Packages stay external: npm installs them. @type {import('esbuild').BuildOptions} */
export const BUNDLED = {
  bundle: true,
  packages: 'external',
  platform: 'node',
  format: 'esm',
  target: 'node20',
  loader: Object.fromEntries(TEXTS.map((extension) => [extension, 'text'])),
  plugins: [watPlugin],
  logLevel: 'warning',
};
