// Which proxy a URL goes through: HTTP_PROXY and HTTPS_PROXY by scheme, and every kind of entry that NO_PROXY may have.
import { describe, expect, it } from 'vitest';
import type { HttpProxy } from '../../../../src/platform/proxy/http-proxy.ts';
import { proxyFor } from '../../../../src/platform/proxy/proxy-for.ts';

const proxy = (variable: string): HttpProxy => ({
  ...{ url: `http://${variable.toLowerCase()}.example:3128`, authorization: null, variable },
});
const HTTP = proxy('HTTP_PROXY');
const HTTPS = proxy('HTTPS_PROXY');
const BOTH = { http: HTTP, https: HTTPS };

describe('a URL', () => {
  it.each([
    ['https://gateway.example/x', HTTPS],
    ['HTTPS://GATEWAY.example', HTTPS],
    ['http://gateway.example:8080', HTTP],
    ['https://10.0.0.1', HTTPS],
    ['http://[fd00::1]:80/', HTTP],
    ['https://localhost.example/', HTTPS],
    ['https://127.example/', HTTPS],
  ])('goes through the proxy of its scheme: %s', (url, expected) => {
    expect(proxyFor(url, { ...BOTH, exempt: [] })).toBe(expected);
  });

  it('goes directly where only the other scheme has a proxy', () => {
    expect(proxyFor('https://gateway.example', { http: HTTP, https: null, exempt: [] })).toBeNull();
    expect(proxyFor('http://gateway.example', { http: null, https: HTTPS, exempt: [] })).toBeNull();
  });

  it.each([
    'http://localhost:8090',
    'http://LOCALHOST.',
    'https://a.localhost',
    'http://127.0.0.1',
    'http://127.9.9.9:1',
    'http://2130706433/',
    'http://[::1]:8090',
    'http://[::ffff:127.0.0.1]/',
  ])('goes directly to this machine: %s', (url) => {
    expect(proxyFor(url, { ...BOTH, exempt: [] })).toBeNull();
  });
});

describe('an entry of NO_PROXY', () => {
  it.each([
    ['*', 'https://any.example'],
    ['gateway.example', 'https://gateway.example'],
    ['GateWay.Example', 'https://gateway.example'],
    ['gateway.example.', 'https://gateway.example'],
    ['gateway.example', 'https://gateway.example.'],
    ['example', 'https://deep.inside.example'],
    ['.example', 'https://gateway.example'],
    ['.gateway.example', 'https://gateway.example'],
    ['*.gateway.example', 'https://a.gateway.example'],
    ['gateway.example:443', 'https://gateway.example'],
    ['gateway.example:8443', 'https://gateway.example:8443'],
    ['.example:80', 'http://a.example'],
    ['bücher.example', 'https://xn--bcher-kva.example'],
    ['10.1.2.3', 'https://10.1.2.3'],
    ['10.1.2.3:443', 'https://10.1.2.3'],
    ['10.0.0.0/8', 'https://10.255.0.1:9000'],
    ['fd00::1', 'https://[fd00::1]'],
    ['fd00:0:0::1', 'https://[fd00::1]'],
    ['[fd00::1]', 'https://[fd00::1]'],
    ['[fd00::1]:8443', 'https://[fd00::1]:8443'],
    ['fd00::/8', 'https://[fdff::1]'],
  ])('%s exempts %s', (entry, url) => {
    expect(proxyFor(url, { ...BOTH, exempt: ['other.test', entry] })).toBeNull();
  });

  it.each([
    ['gateway.example', 'https://notgateway.example'],
    ['gateway.example', 'https://gateway.example.org'],
    ['ateway.example', 'https://gateway.example'],
    ['gateway.example:8443', 'https://gateway.example'],
    ['gateway.example:443', 'http://gateway.example'],
    ['*.example.*', 'https://a.example.org'],
    ['gate*', 'https://gateway.example'],
    ['10.1.2.3', 'https://10.1.2.30'],
    ['2.3', 'https://10.1.2.3'],
    ['10.1.2.3:80', 'https://10.1.2.3'],
    ['10.0.0.0/8', 'https://11.0.0.1'],
    ['10.0.0.0/99', 'https://10.0.0.1'],
    ['10.0.0.0/8', 'https://ten.example'],
    ['fd00::1', 'https://[fd00::11]'],
    ['[fd00::1]:8443', 'https://[fd00::1]'],
    ['fd00::/8', 'https://[fe00::1]'],
    [':443', 'https://gateway.example'],
    ['.', 'https://gateway.example'],
    ['https://gateway.example', 'https://gateway.example'],
  ])('%s does not exempt %s', (entry, url) => {
    expect(proxyFor(url, { ...BOTH, exempt: [entry] })).toBe(
      new URL(url).protocol === 'https:' ? HTTPS : HTTP,
    );
  });
});
