// For vitest: loads .lua, .sql, .yaml and shell files as strings and .wat files as bytes, as scripts/build.js does for the bundle.
import { readFileSync } from 'node:fs';
import type { Plugin } from 'vitest/config';
import { assemble } from '../scripts/wat.js';

export const assetFiles: Plugin = {
  name: 'asset-files',
  enforce: 'pre',
  async load(id) {
    if (/\.(lua|sql|yaml|bash|zsh|fish)$/.test(id))
      return `export default ${JSON.stringify(readFileSync(id, 'utf8'))}`;
    if (/\.wat$/.test(id)) return `export default Uint8Array.of(${await assemble(id)})`;
    return null;
  },
};
