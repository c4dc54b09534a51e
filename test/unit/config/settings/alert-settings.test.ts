import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { BadValue } from '../../../../src/config/kinds.ts';
import { loadDaemonConfig } from '../../../../src/config/load-config.ts';
import { ALERTS, WEBHOOKS } from '../../../../src/config/settings/alert-settings.ts';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';

const directory = temporaryDirectory('webhooks');

const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const flags = { '--gateway-url': 'http://gateway' };

describe('webhook secrets', () => {
  it('takes 24 to 64 bytes in base64 behind whsec_, and never quotes them', () => {
    for (const bytes of [24, 25, 26, 64]) {
      const secret = `whsec_${Buffer.alloc(bytes, 1).toString('base64')}`;
      expect(WEBHOOKS.secrets.kind.parse(` ${secret}\n`)).toEqual([secret]);
    }
    const other = `whsec_${Buffer.alloc(32, 8).toString('base64')}`;
    expect(WEBHOOKS.secrets.kind.parse(`${other}, ${SECRET}`)).toEqual([other, SECRET]);
    for (const wrong of [
      `${SECRET},${other},whsec_${Buffer.alloc(24, 9).toString('base64')}`,
      `${SECRET},`,
      SECRET.slice(6),
      'whsec_short',
      `${SECRET}!`,
      `whsec_${'A'.repeat(100)}`,
      'whsec_=',
    ]) {
      const parse = () => WEBHOOKS.secrets.kind.parse(wrong);
      expect(parse).toThrow(BadValue);
      expect(parse).not.toThrow(wrong);
    }
  });
});

describe('the URL of the heartbeat', () => {
  it('stays as it is written, and is never quoted', () => {
    const { parse } = ALERTS.heartbeatUrl.kind;
    for (const url of ['https://hc-ping.com/4a1b/', 'http://kuma:3001/api/push/T?status=up&msg=OK&ping=']) {
      expect(parse(` ${url}\n`)).toBe(url);
    }
    for (const wrong of [
      'hc-ping.com/4a1b',
      'ftp://host/4a1b',
      'https://me:4a1b@host/',
      5,
      null,
      ['https://a/'],
    ]) {
      expect(() => parse(wrong)).toThrow(BadValue);
      expect(() => parse(wrong)).not.toThrow(/4a1b/);
    }
  });
});

describe('settings', () => {
  it('take ranges from variable and file, the secret from variable or secret file', async () => {
    const yaml = join(directory, 'cardpoll.yaml');
    writeFileSync(yaml, 'webhooks: { allow_cidrs: [10.1.0.0/16, "::1"] }\nalerts: { interval_ms: 1s }\n');
    const secretFile = join(directory, 'secret');
    writeFileSync(secretFile, `${SECRET}\n`, { mode: 0o600 });
    const config = await loadDaemonConfig({
      flags: { ...flags, '--config': yaml },
      env: { CARDPOLL_WEBHOOKS_SECRET_FILE: secretFile },
    });
    expect(config).toMatchObject({
      alerts: { intervalMs: 1_000 },
      webhooks: {
        secrets: [SECRET],
        allowCidrs: [
          { address: '10.1.0.0', prefix: 16 },
          { address: '::1', prefix: 128 },
        ],
      },
    });
    const env = { CARDPOLL_WEBHOOKS_SECRET: SECRET, CARDPOLL_WEBHOOKS_ALLOW_CIDRS: '127.0.0.0/8,10.0.0.1' };
    expect(await loadDaemonConfig({ flags, env })).toMatchObject({
      webhooks: { secrets: [SECRET], allowCidrs: [{ prefix: 8 }, { prefix: 32 }] },
    });
  });

  it('never take the secret from the config file', async () => {
    const yaml = join(directory, 'secret.yaml');
    writeFileSync(yaml, `webhooks: { secret: ${SECRET} }\n`);
    await expect(loadDaemonConfig({ flags: { ...flags, '--config': yaml }, env: {} })).rejects.toMatchObject({
      kind: 'config',
    });
  });
});
