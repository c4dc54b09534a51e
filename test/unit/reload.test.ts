import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { DaemonConfig } from '../../src/config/daemon-config.ts';
import { loadDaemonConfig } from '../../src/config/load-config.ts';
import type { AuditChange } from '../../src/domain/audit.ts';
import { CardpollError } from '../../src/platform/errors.ts';
import { type LiveSettings, Reloader } from '../../src/reload.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const BASIC_CONFIG = join(temporaryDirectory('reload'), 'cardpoll.yaml');
writeFileSync(BASIC_CONFIG, 'gateway:\n  auth:\n    kind: basic\n');
const flags = { '--gateway-url': 'http://gateway:8080', '--data-dir': ':memory:' };

async function reloader(load: () => Promise<DaemonConfig>, refuse?: CardpollError, start?: DaemonConfig) {
  const lines: unknown[] = [];
  const applied: LiveSettings[] = [];
  const changes: AuditChange[] = [];
  const say = (level: string) => (fields: object, message: string) => lines.push([level, fields, message]);
  const config = start ?? (await loadDaemonConfig({ flags, env: {} }));
  const subject = new Reloader({
    config,
    load,
    apply: (settings) => {
      if (refuse !== undefined) throw refuse;
      applied.push(settings);
    },
    clock: new FakeClock(),
    log: { info: say('info'), warn: say('warn'), error: say('error') } as never,
    onChange: (change) => changes.push(change),
  });
  return { subject, lines, applied, changes };
}

it('says nothing of what did not change', async () => {
  const { subject, lines } = await reloader(() => loadDaemonConfig({ flags, env: {} }));
  await subject.reload();
  expect(lines).toEqual([['info', { changed: [] }, 'configuration reloaded']]);
});

it('logs settings that cannot be put in force, with what to do', async () => {
  const refusal = new CardpollError('config', 'tokens_missing', 'needs tokens', { hint: 'give some' });
  const { subject, lines } = await reloader(() => loadDaemonConfig({ flags, env: {} }), refusal);
  await subject.reload();
  expect(lines).toMatchObject([
    ['error', { reason: 'needs tokens', hint: 'give some' }, expect.stringMatching(/not reloaded/)],
  ]);
});

it('reloads one after the other, the last file wins', async () => {
  const levels = ['debug', 'warn', 'error'];
  const load = async () => {
    const level = levels.shift() ?? '';
    await new Promise((resolve) => setTimeout(resolve, levels.length));
    return loadDaemonConfig({ flags: { ...flags, '--log-level': level }, env: {} });
  };
  const { subject, applied } = await reloader(load);
  await Promise.all([subject.reload(), subject.reload(), subject.reload()]);
  expect(applied.map(({ logLevel }) => logLevel)).toEqual(['debug', 'warn', 'error']);
});

describe('credentials of the gateway', () => {
  const BASIC = { CARDPOLL_GATEWAY_USERNAME: 'fleet', CARDPOLL_GATEWAY_PASSWORD: 'of-monday' };

  it('change at once, and no line and no audit entry shows them', async () => {
    const env = { CARDPOLL_GATEWAY_TOKEN: 'token-of-tuesday' };
    const { subject, lines, applied, changes } = await reloader(() => loadDaemonConfig({ flags, env }));
    await subject.reload();
    await subject.reload();
    expect(applied[0]?.gatewayCredentials).toMatchObject({ token: 'token-of-tuesday', password: null });
    expect(lines).toEqual([
      ['info', { changed: ['gateway_credentials'] }, 'configuration reloaded'],
      ['info', { changed: [] }, 'configuration reloaded'],
    ]);
    expect(JSON.stringify([lines, changes])).not.toContain('token-of');
  });

  it('wait for the restart where gateway.auth changes, too', async () => {
    const { subject, lines, applied } = await reloader(() =>
      loadDaemonConfig({ flags: { ...flags, '--config': BASIC_CONFIG }, env: BASIC }),
    );
    await subject.reload();
    expect(applied[0]?.gatewayCredentials).toMatchObject({ username: null, password: null });
    expect(lines).toMatchObject([
      ['info', { changed: [] }, 'configuration reloaded'],
      [
        'warn',
        { settings: ['gateway.username', 'gateway.password', 'gateway.auth.kind'] },
        expect.anything(),
      ],
    ]);
  });
});

it('names settings that need a restart as operators write them', async () => {
  const file = join(temporaryDirectory('reload'), 'cardpoll.yaml');
  const path = (method: string) =>
    `{method: ${method}, path: '/usage/{iccid}', headers: {X-Fleet: ${method}}`;
  const load = (url: string, flow: string, env = {}) => {
    const stores = `redis_url: redis://${url}\ndatabase_url: postgres://${url}\n`;
    writeFileSync(file, `${stores}gateway:\n  url: http://gateway\n  interfaces:\n    flow: ${flow}\n`);
    return loadDaemonConfig({ flags: { '--config': file }, env });
  };
  const config = await load('one/0', `${path('GET')}, value: data.used}`);
  const changed = await load('two/0', `${path('POST')}, remaining: data.left, total: data.all}`, {
    CARDPOLL_WEBHOOKS_SECRET: `whsec_${'c2VjcmV0'.repeat(6)}`,
  });
  const { subject, lines } = await reloader(async () => changed, undefined, config);
  await subject.reload();
  const { settings } = (lines[1] as [string, { settings: string[] }])[1];
  expect(settings.sort()).toEqual([
    'database_url',
    'gateway.interfaces.flow.headers',
    'gateway.interfaces.flow.method',
    'gateway.interfaces.flow.remaining',
    'gateway.interfaces.flow.total',
    'gateway.interfaces.flow.value',
    'redis_url',
    'webhooks.secret',
  ]);
});

it('records what changed in the audit trail; of tokens only their names', async () => {
  const secret = 's3cret-'.repeat(4);
  const env = { CARDPOLL_ADMIN_TOKENS: `operator:${secret},viewer:${secret}x` };
  const { subject, changes } = await reloader(() =>
    loadDaemonConfig({ flags: { ...flags, '--log-level': 'warn' }, env }),
  );
  await subject.reload();
  await subject.reload();
  expect(changes).toEqual([
    {
      action: 'config.reload',
      object: expect.stringMatching(/^instance ./),
      before: { logLevel: 'info', adminTokens: [] },
      after: {
        logLevel: 'warn',
        adminTokens: [
          { name: expect.stringMatching(/^operator-[0-9a-f]{6}$/), role: 'admin' },
          { name: expect.stringMatching(/^viewer-[0-9a-f]{6}$/), role: 'viewer' },
        ],
      },
    },
  ]);
  expect(JSON.stringify(changes)).not.toContain(secret);
});
