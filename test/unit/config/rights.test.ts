// What must not be open to others, and URLs that must not hold a password because they are shown.
import { chmodSync, chownSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { changeableByAnotherUser, changeableByOthers } from '../../../src/config/file-rights.ts';
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

describe('a config file that names files of secrets', () => {
  const [root, me, other] = [0, 1000, 1001];

  it.each([
    ['root, for root', root, 0o640, root],
    ['root, for another user', root, 0o640, me],
    ['the user of this process', me, 0o600, me],
  ])('may belong to %s', (_, uid, mode, user) => {
    expect(changeableByAnotherUser('/a', { uid, mode }, user)).toBeNull();
  });

  it.each([
    ['another user, for root', me, 0o600, root, 'user 1000 can write /a; run chown root /a'],
    ['another user, for a user', other, 0o600, me, 'user 1001 can write /a; run chown root /a'],
    ['a group', root, 0o660, root, 'its group can write /a; run chmod g-w /a'],
  ])('must not belong to %s', (_, uid, mode, user, message) => {
    expect(changeableByAnotherUser('/a', { uid, mode }, user)).toBe(message);
  });
});

describe('a module', () => {
  it('is no code for root when the file or its directory belongs to another user', () => {
    const inside = join(directory, 'modules');
    mkdirSync(inside);
    const path = join(inside, 'ours.mjs');
    writeFileSync(path, '');
    // As an unprivileged user, the files are those of another user for root already.
    const give = (one: string, uid: number) => process.geteuid?.() === 0 && chownSync(one, uid, uid);
    give(path, 1000);
    expect(changeableByOthers(path, 0)).toBe(
      `root does not run the code of another user; run chown root ${path}`,
    );
    expect(changeableByOthers(path, 1000)).toBeNull();
    give(path, 0);
    give(inside, 1000);
    expect(changeableByOthers(path, 0)).toMatch(/run chown root .*modules/);
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
