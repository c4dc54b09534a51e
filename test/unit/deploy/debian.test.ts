// The configuration that the Debian package installs. What the package does: scripts/test-deb.sh, test/packages.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { loadDaemonConfig } from '../../../src/config/load-config.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const INSTALLED = fileURLToPath(new URL('../../../deploy/debian/cardpoll.yaml', import.meta.url));

it('is understood with every line in force', async () => {
  const directory = temporaryDirectory('debian');
  const path = join(directory, 'cardpoll.yaml');
  writeFileSync(path, readFileSync(INSTALLED, 'utf8').replace(/^( *)#(?! )/gm, '$1'));
  // As the unit has it: the secrets of this machine are not read.
  const env = { CREDENTIALS_DIRECTORY: directory };
  expect(await loadDaemonConfig({ flags: { '--config': path }, env })).toMatchObject({
    stores: { redisUrl: 'redis://127.0.0.1:6379', databaseUrl: 'postgres://cardpoll@127.0.0.1/cardpoll' },
    gateway: { url: 'https://gateway.example' },
  });
});
