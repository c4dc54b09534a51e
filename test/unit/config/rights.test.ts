// What must not be open to others, and URLs that must not hold a password because they are shown.
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadClientConfig, loadDaemonConfig } from '../../../src/config/load-config.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { certificatePath, installPair } from '../../support/tls-pair.ts';

const directory = temporaryDirectory('rights');

const GATEWAY = { '--gateway-url': 'http://gateway:8080' };
const PASSWORD = 'hunter2hunter2';

function file(name: string, content: string, mode: number): string {
  const path = join(directory, name);
  writeFileSync(path, content);
  chmodSync(path, mode);
  return path;
}

async function refusal(flags: Record<string, string>, env: Record<string, string> = {}): Promise<string> {
  const outcome = loadDaemonConfig({ flags: { ...GATEWAY, ...flags }, env });
  return outcome.then(
    () => 'accepted',
    (error: Error) => error.message,
  );
}

describe('a config file', () => {
  const withPassword = `redis_url: redis://:${PASSWORD}@r:6379\ndatabase_url: postgres://c:${PASSWORD}@d/c\n`;

  it('a config file that everybody may write is refused', async () => {
    const path = file('writable.yaml', 'log_level: warn\n', 0o666);
    expect(await refusal({ '--config': path })).toContain(`every user can write ${path}; run chmod`);
  });

  it('a config file that holds a password and that everybody may read is refused, without naming it', async () => {
    const path = file('readable.yaml', withPassword, 0o644);
    const said = await refusal({ '--config': path });
    expect(said).toContain(`every user can read ${path}, which holds a password; run chmod 600`);
    expect(said).not.toContain(PASSWORD);
    chmodSync(path, 0o640);
    expect(await refusal({ '--config': path })).toBe('accepted');
  });

  it('without a password may be read by everybody', async () => {
    expect(await refusal({ '--config': file('plain.yaml', 'log_level: warn\n', 0o644) })).toBe('accepted');
  });
});

describe('a URL with credentials', () => {
  const url = `http://operator:${PASSWORD}@host:7480`;

  it('is no gateway', async () => {
    const said = await refusal({ '--gateway-url': url });
    expect(said).toContain('must have no credentials');
    expect(said).not.toContain(PASSWORD);
  });

  it('is no daemon', async () => {
    const loaded = loadClientConfig({ flags: { '--url': url }, env: {} });
    await expect(loaded).rejects.toMatchObject({ kind: 'usage' });
    await expect(loaded).rejects.not.toThrow(PASSWORD);
  });
});

describe('TLS files', () => {
  const paths = { cert: join(directory, 'tls.crt'), key: join(directory, 'tls.key') };
  const flags = { '--tls-cert': paths.cert, '--tls-key': paths.key };

  it('are read together', async () => {
    installPair('first', paths.cert, paths.key);
    const { tls } = await loadDaemonConfig({ flags: { ...GATEWAY, ...flags }, env: {} });
    expect(tls?.cert).toContain('BEGIN CERTIFICATE');
  });

  it('are refused where one is missing, open to others, or of another pair', async () => {
    installPair('first', paths.cert, paths.key);
    expect(await refusal({ '--tls-cert': paths.cert })).toContain('give --tls-key');
    expect(await refusal({ ...flags, '--tls-key': '/nowhere.key' })).toContain('/nowhere.key');
    expect(await refusal({ ...flags, '--tls-cert': certificatePath('second') })).toContain('cannot be used');
    chmodSync(paths.key, 0o644);
    expect(await refusal(flags)).toContain(`every user can read ${paths.key}; run chmod 600`);
  });
});

it('proxies are trusted with tokens only', async () => {
  const env = { CARDPOLL_API_TRUSTED_PROXIES: '10.0.0.1' };
  expect(await refusal({}, env)).toContain('would open the admin API');
  expect(await refusal({}, { ...env, CARDPOLL_ADMIN_TOKENS: 'viewer:0123456789abcdef' })).toBe('accepted');
});

describe('what the Redis URL does not ask for', () => {
  const stores = (redis: string) => ({ '--redis-url': redis, '--database-url': 'postgres://d/c' });

  it.each([
    ['redis://r', 'CARDPOLL_REDIS_TLS_CA', certificatePath('first'), 'redis_tls_ca is set, but redis_url'],
    [
      'rediss://r',
      'CARDPOLL_REDIS_SENTINEL_PASSWORD',
      'a-password',
      'CARDPOLL_REDIS_SENTINEL_PASSWORD is set',
    ],
    ['rediss://r', 'CARDPOLL_REDIS_TLS_CA', certificatePath('first'), 'accepted'],
    ['redis-sentinel://s/m', 'CARDPOLL_REDIS_SENTINEL_PASSWORD', 'a-password', 'accepted'],
    ['rediss://r', 'CARDPOLL_REDIS_TLS_CERT', certificatePath('first'), 'redis_tls_cert is set, so give'],
    ['rediss://r', 'CARDPOLL_REDIS_TLS_CA', file('no.pem', 'no certificate', 0o644), 'holds no certificate'],
  ])('%s with %s', async (url, name, value, said) => {
    const refused = await refusal(stores(url), { [name]: value });
    expect(refused).toContain(said);
    expect(refused).not.toContain('a-password');
  });
});
