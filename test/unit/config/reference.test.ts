import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { INTERFACE_SETTINGS } from '../../../src/config/gateway-interfaces.ts';
import { loadDaemonConfig } from '../../../src/config/load-config.ts';
import { configurationReference, sampleConfig } from '../../../src/config/reference.ts';
import { SETTINGS } from '../../../src/config/settings.ts';
import { DEFAULT_INTERFACES, GATEWAY_DEFAULTS, gatewayProfile } from '../../../src/gateway/profile.ts';

const flags = { '--gateway-url': 'http://gateway' };
const env = { HOME: '/home/sre' };

it('docs/configuration.md matches the settings table', async () => {
  await expect(configurationReference()).toMatchFileSnapshot('../../../docs/configuration.md');
});

it('docs/cardpoll.sample.yaml matches the settings table', async () => {
  await expect(sampleConfig()).toMatchFileSnapshot('../../../docs/cardpoll.sample.yaml');
});

it('the sample file with every key in force changes nothing but the gateway profile, which it spells out', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'cardpoll-sample-'));
  try {
    const path = join(directory, 'sample.yaml');
    writeFileSync(path, sampleConfig().replace(/^( *)#(?! )/gm, '$1'));
    const spelledOut = await loadDaemonConfig({ flags: { ...flags, '--config': path }, env });
    const plain = await loadDaemonConfig({ flags, env });
    expect(spelledOut).toMatchObject(plain);
    expect(Object.keys(spelledOut.gateway.interfaces)).toEqual([
      'realname',
      'flow',
      'card_status',
      'stop',
      'start',
    ]);
  } finally {
    rmSync(directory, { recursive: true });
  }
});

it('documents the defaults the gateway profile applies', async () => {
  for (const [name, call] of Object.entries(DEFAULT_INTERFACES)) {
    const settings = INTERFACE_SETTINGS[name as keyof typeof INTERFACE_SETTINGS];
    expect(settings.method.defaultText).toBe(call.method);
    expect(settings.path.defaultText).toBe(call.path);
    expect(settings.field?.defaultText ?? null).toBe(call.field);
  }
  expect(Object.keys(INTERFACE_SETTINGS)).toEqual(Object.keys(DEFAULT_INTERFACES));
  expect(SETTINGS.gatewayTimeoutMs.default).toBe(GATEWAY_DEFAULTS.timeoutMs);
  expect(SETTINGS.gatewayMaxConnections.default).toBe(GATEWAY_DEFAULTS.maxConnections);
  expect(SETTINGS.gatewayMaxResponseBytes.defaultText).toBe(String(GATEWAY_DEFAULTS.maxResponseBytes));
  expect(SETTINGS.gatewayMaxRetryAfterSeconds.defaultText).toBe(
    String(GATEWAY_DEFAULTS.maxRetryAfterSeconds),
  );
  expect(SETTINGS.gatewayStoppedStatuses.defaultText).toBe(GATEWAY_DEFAULTS.stoppedStatuses.join(','));
});

it('yields what the gateway profile takes', async () => {
  const { gateway } = await loadDaemonConfig({ flags, env });
  expect(gatewayProfile(gateway)).toMatchObject({
    baseUrl: 'http://gateway',
    interfaces: DEFAULT_INTERFACES,
  });
});
