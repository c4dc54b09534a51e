// For vitest: loads texts as strings and .wat files as bytes, as scripts/bundled.js does for the bundle.
import { readFileSync } from 'node:fs';
import { extname } from 'node:path';
import type { Plugin } from 'vitest/config';
import { assemble, TEXTS } from '../scripts/bundled.js';

export const assetFiles: Plugin = {
  name: 'asset-files',
  enforce: 'pre',
  async load(id) {
    if (TEXTS.includes(extname(id))) return `export default ${JSON.stringify(readFileSync(id, 'utf8'))}`;
    if (/\.wat$/.test(id)) return `export default Uint8Array.of(${await assemble(id)})`;
    return null;
  },
};
