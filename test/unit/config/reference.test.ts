import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { configurationReference, sampleConfig } from '../../../scripts/man/settings-reference.ts';
import { loadDaemonConfig } from '../../../src/config/load-config.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const flags = { '--gateway-url': 'http://gateway' };
const env = { HOME: '/home/sre' };

it('docs/configuration.md matches the settings table', async () => {
  await expect(configurationReference()).toMatchFileSnapshot('../../../docs/configuration.md');
});

it('docs/cardpoll.sample.yaml matches the settings table', async () => {
  await expect(sampleConfig()).toMatchFileSnapshot('../../../docs/cardpoll.sample.yaml');
});

it('the sample file with every key in force changes nothing', async () => {
  const directory = temporaryDirectory('sample');
  const path = join(directory, 'sample.yaml');
  writeFileSync(path, sampleConfig().replace(/^( *)#(?! )/gm, '$1'));
  const spelledOut = await loadDaemonConfig({ flags: { ...flags, '--config': path }, env });
  const plain = await loadDaemonConfig({ flags, env });
  expect(spelledOut).toEqual(plain);
});
