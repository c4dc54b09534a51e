// The proxies that a configuration has from the environment, and what is refused. A value may have credentials, so none is shown.
import { describe, expect, it } from 'vitest';
import { loadDaemonConfig, loadGatewayConfig } from '../../../src/config/load-config.ts';
import type { Proxies } from '../../../src/platform/proxy/http-proxy.ts';

const FLAGS = { '--gateway-url': 'https://gateway.example', '--data-dir': ':memory:' };

async function proxies(env: Readonly<Record<string, string>>): Promise<Proxies> {
  const [daemon, trial] = [
    await loadDaemonConfig({ flags: FLAGS, env }),
    await loadGatewayConfig({ flags: FLAGS, env }),
  ];
  expect(trial.proxies).toEqual(daemon.proxies);
  return daemon.proxies;
}

describe('the variables', () => {
  it('name a proxy by scheme, and what needs none', async () => {
    expect(
      await proxies({
        HTTP_PROXY: 'http://one.example:3128',
        HTTPS_PROXY: 'https://two.example/',
        NO_PROXY: 'a.example, .b.example  10.0.0.0/8,,',
      }),
    ).toEqual({
      http: { url: 'http://one.example:3128', authorization: null, variable: 'HTTP_PROXY' },
      https: { url: 'https://two.example', authorization: null, variable: 'HTTPS_PROXY' },
      exempt: ['a.example', '.b.example', '10.0.0.0/8'],
    });
  });

  it('are taken in lower case first, and an empty one is not set', async () => {
    const { http, https, exempt } = await proxies({
      ...{ http_proxy: 'http://lower.example', HTTP_PROXY: 'http://upper.example' },
      ...{ https_proxy: '', HTTPS_PROXY: 'http://upper.example' },
      ...{ no_proxy: 'lower.example', NO_PROXY: 'upper.example' },
    });
    expect([http?.url, http?.variable]).toEqual(['http://lower.example', 'http_proxy']);
    expect([https?.url, https?.variable]).toEqual(['http://upper.example', 'HTTPS_PROXY']);
    expect(exempt).toEqual(['lower.example']);
  });

  it('need no scheme', async () => {
    const { https } = await proxies({ HTTPS_PROXY: 'user:secret-pw@proxy.example:3128' });
    expect(https?.url).toBe('http://proxy.example:3128');
  });

  it.each([
    ['http://user:p%40ss%3Aword@proxy.example', 'user:p@ss:word'],
    ['http://user@proxy.example', 'user:'],
    ['http://:only-pw@proxy.example', ':only-pw'],
  ])('have credentials apart from the address that is shown: %s', async (value, plain) => {
    const { https } = await proxies({ HTTPS_PROXY: value });
    expect(https).toEqual({
      url: 'http://proxy.example',
      authorization: `Basic ${btoa(plain)}`,
      variable: 'HTTPS_PROXY',
    });
  });
});

it.each([
  ['HTTPS_PROXY', 'socks5://user:secret-pw@proxy.example:1080', 'a socks5:// proxy is not supported'],
  ['http_proxy', 'SOCKS5h://proxy.example', 'a SOCKS5h:// proxy is not supported'],
  ['https_proxy', 'ftp://user:secret-pw@proxy.example', 'a ftp:// proxy is not supported'],
  ['HTTPS_PROXY', 'http://user:secret-pw@', 'must be the URL of a proxy'],
  ['HTTPS_PROXY', 'http://user:secret-pw@proxy.example:99999', 'must be the URL of a proxy'],
  ['HTTPS_PROXY', 'http://user:secret-pw%zz@proxy.example', 'must be the URL of a proxy'],
  ['HTTPS_PROXY', 'http://user:secret-pw@proxy.example/path', 'must be the URL of a proxy'],
  ['HTTP_PROXY', 'http://pro xy.example', 'must be the URL of a proxy'],
  ['HTTP_PROXY', '://secret-pw', 'must be the URL of a proxy'],
])('%s=%s is refused without being shown', async (variable, value, why) => {
  const refusal = await proxies({ [variable]: value }).then(
    () => null,
    (error: Error) => error,
  );
  expect(refusal).toMatchObject({ kind: 'config', code: 'config_invalid' });
  expect(refusal?.message).toContain(`${variable}: ${why}`);
  expect(refusal?.message).not.toContain('secret-pw');
});
