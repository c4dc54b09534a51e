// For vitest: loads texts as strings, as scripts/bundled.js does for the bundle.
import { readFileSync } from 'node:fs';
import { extname } from 'node:path';
import type { Plugin } from 'vitest/config';
import { TEXTS } from '../scripts/bundled.js';

export const assetFiles: Plugin = {
  name: 'asset-files',
  enforce: 'pre',
  load(id) {
    if (TEXTS.includes(extname(id))) return `export default ${JSON.stringify(readFileSync(id, 'utf8'))}`;
    return null;
  },
};
