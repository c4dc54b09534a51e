// How src/ is bundled: Lua, SQL, YAML and shell files become strings. Used by build.js, man.js, test/asset-files.ts and
// test/bench/run.js.

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
  logLevel: 'warning',
};
