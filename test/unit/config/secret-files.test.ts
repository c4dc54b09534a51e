// Commands read the secrets of the unit where the config file says that they are. That another user may not look: scripts/test-deb.sh.
import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { proxyFindings } from '../../../src/cli/commands/doctor/doctor.ts';
import {
  loadAdoptConfig,
  loadClientConfig,
  loadDaemonConfig,
  loadMigrateConfig,
  loadSecretOrigins,
} from '../../../src/config/load-config.ts';
import type { ConfigInputs } from '../../../src/config/reader.ts';
import { secretsOfUnit } from '../../../src/config/unit-secrets.ts';
import { NO_PROXIES } from '../../../src/platform/proxy/http-proxy.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const REDIS = 'redis://of.the.store';
const DATABASE = 'postgres://of.the.store/cardpoll';
let dir: string;
let first: string;
let second: string;

beforeEach(() => {
  dir = temporaryDirectory('secret-files');
  [first, second] = [join(dir, 'credstore'), join(dir, 'run')];
  for (const one of [first, second, `${first}.encrypted`]) mkdirSync(one);
});

const give = (name: string, value: string, directory = first) =>
  writeFileSync(join(directory, `cardpoll.${name}`), `${value}\n`, { mode: 0o600 });

function inputs(more = '', env: ConfigInputs['env'] = {}): ConfigInputs {
  const path = join(dir, 'cardpoll.yaml');
  const line = `secret_files: [${first}/cardpoll.*, ${second}/cardpoll.*]`;
  writeFileSync(path, `${line}\ngateway: { url: http://gateway }\n${more}`);
  return { flags: { '--config': path }, env };
}

describe('secret_files', () => {
  it('give daemon, migrate and adopt the same stores, and say so', async () => {
    give('redis_url', REDIS);
    give('database_url', DATABASE, second);
    const stores = { redisUrl: REDIS, databaseUrl: DATABASE };
    const from = `secret_files (${second}/cardpoll.database_url)`;
    expect((await loadDaemonConfig(inputs())).stores).toMatchObject(stores);
    expect((await loadAdoptConfig(inputs())).stores).toMatchObject(stores);
    expect(await loadMigrateConfig(inputs())).toEqual({
      database: { kind: 'postgres', databaseUrl: DATABASE, from },
    });
    expect(await loadSecretOrigins(inputs())).toEqual([
      { name: 'redis_url', from: `secret_files (${first}/cardpoll.redis_url)` },
      { name: 'database_url', from },
    ]);
  });

  it('win over the config file, and nothing else', async () => {
    give('redis_url', REDIS);
    give('database_url', DATABASE);
    const yaml = 'redis_url: redis://of.the.file\ndatabase_url: postgres://of.the.file/x\n';
    const config = await loadDaemonConfig(inputs(yaml, { CARDPOLL_REDIS_URL: 'redis://of.the.variable' }));
    expect(config.stores).toMatchObject({ redisUrl: 'redis://of.the.variable', databaseUrl: DATABASE });
  });

  it('are not looked for where systemd gave this process its credentials', async () => {
    give('redis_url', REDIS);
    give('database_url', DATABASE);
    const env = { CREDENTIALS_DIRECTORY: join(dir, 'run', 'none') };
    expect((await loadDaemonConfig(inputs('', env))).stores).toMatchObject({ kind: 'embedded' });
  });

  it('give a client of the daemon no token', async () => {
    give('client.token', '0123456789abcdef');
    expect(await loadClientConfig(inputs())).toMatchObject({ token: null });
  });

  it('refuse a file that every user can read', async () => {
    give('database_url', DATABASE);
    chmodSync(join(first, 'cardpoll.database_url'), 0o644);
    await expect(loadMigrateConfig(inputs())).rejects.toThrow(/every user can read .*; run chmod 600/);
  });

  it('are not read where the group of the config file can name other files', async () => {
    give('redis_url', REDIS);
    const given = inputs();
    chmodSync(join(dir, 'cardpoll.yaml'), 0o660);
    await expect(loadDaemonConfig(given)).rejects.toThrow(
      /secret_files: its group can write .*; run chmod g-w/,
    );
    expect(await loadSecretOrigins(given)).toEqual([]);
  });

  it('follow links as systemd does, and name a loop', async () => {
    writeFileSync(join(dir, 'kept'), DATABASE, { mode: 0o600 });
    const link = join(first, 'cardpoll.database_url');
    symlinkSync(join(dir, 'kept'), link);
    expect(await loadMigrateConfig(inputs())).toMatchObject({ database: { databaseUrl: DATABASE } });
    rmSync(link);
    symlinkSync(link, link);
    await expect(loadMigrateConfig(inputs())).rejects.toThrow(/ELOOP.*cardpoll.database_url/);
  });

  it('refuse a file without a URL', async () => {
    give('database_url', '');
    await expect(loadMigrateConfig(inputs())).rejects.toThrow(/secret_files/);
  });

  it('refuse what only the unit can read, instead of taking another store', async () => {
    give('database_url', 'encrypted', `${first}.encrypted`);
    const yaml = 'database_url: postgres://of.the.file/x\n';
    await expect(loadMigrateConfig(inputs(yaml))).rejects.toThrow(
      /only its unit can read .*credstore\.encrypted\/cardpoll\.database_url, which is encrypted; give this command --database-url/,
    );
  });

  it.each(['relative/cardpoll.*', '/etc/credstore', '/etc/*/*'])('refuse %s', async (pattern) => {
    const env = { CARDPOLL_SECRET_FILES: pattern };
    await expect(loadMigrateConfig(inputs('', env))).rejects.toThrow(/absolute path with one \*/);
  });
});

describe('secrets that only the unit reads', () => {
  const install = (path: string) => {
    mkdirSync(join(dir, path, '..'), { recursive: true });
    writeFileSync(join(dir, path), '');
  };

  it('are found where the unit is installed', () => {
    install('usr/lib/systemd/system/cardpoll.service');
    for (const path of ['etc/credstore/cardpoll.database_url', 'run/credstore.encrypted/cardpoll.redis_url'])
      install(path);
    expect(secretsOfUnit(dir)).toEqual([
      join(dir, 'etc/credstore/cardpoll.database_url'),
      join(dir, 'run/credstore.encrypted/cardpoll.redis_url'),
    ]);
  });

  it('are none without a unit, and none without files', () => {
    install('etc/credstore/cardpoll.database_url');
    expect(secretsOfUnit(dir)).toEqual([]);
    install('etc/systemd/system/cardpoll.service');
    install('etc/credstore/cardpoll.gateway.token');
    expect(secretsOfUnit(dir)).toHaveLength(1);
  });

  it('leave proxies of the unit out of a command, which the doctor says without their values', () => {
    install('etc/default/cardpoll');
    const text =
      'HTTPS_PROXY="http://user:secret-pw@proxy.example"\nHTTP_PROXY=\n#http_proxy=x\nhttp_proxy=proxy\n';
    writeFileSync(join(dir, 'etc/default/cardpoll'), text);
    expect(proxyFindings(NO_PROXIES, dir)).toEqual([]);
    install('etc/systemd/system/cardpoll.service');
    const [finding] = proxyFindings(NO_PROXIES, dir);
    expect(finding?.detail).toContain(
      'cardpoll.service has HTTPS_PROXY, http_proxy of /etc/default/cardpoll',
    );
    expect(JSON.stringify(finding)).not.toContain('secret-pw');
    const http = { url: 'http://here.example', authorization: null, variable: 'http_proxy' };
    expect(proxyFindings({ ...NO_PROXIES, http }, dir)).toEqual([]);
  });
});
