// Where webhooks may go: every disguise of an address that is not public, and names as the system resolves them.
import type { LookupAddress } from 'node:dns';
import { isIP } from 'node:net';
import { describe, expect, it } from 'vitest';
import { parseAddressRange } from '../../../src/platform/addresses.ts';
import { NO_PROXIES } from '../../../src/platform/proxy/http-proxy.ts';
import { SsrfGuard } from '../../../src/platform/ssrf-guard.ts';

const strict = new SsrfGuard([], NO_PROXIES);
const guardAllowing = (...ranges: string[]) =>
  new SsrfGuard(
    ranges.map(parseAddressRange).filter((range) => range !== null),
    NO_PROXIES,
  );

describe('URLs', () => {
  it.each([
    'https://hooks.example.com/T000/B000?x=1#y',
    'http://hooks.example.com:8080',
    'https://8.8.8.8/x',
    'https://[2606:4700::1111]/x',
    'https://[::ffff:8.8.8.8]/x',
    'https://localhost.example.com/',
    'https://notlocalhost/',
    'https://10.0.0.1.example.com/',
  ])('lets %s through', (url) => {
    expect(strict.refusalOf(url)).toBeNull();
  });

  it.each([
    '127.0.0.1',
    '127.0.0.1:8080',
    '127.1',
    '2130706433',
    '0x7f.1',
    '0x7f000001',
    '0177.0.0.1',
    '１２７.０.０.１',
    '127.0.0.1.',
    'localhost',
    'LocalHost',
    'localhost.',
    'a.localhost',
    'deep.inside.localhost',
    '%6c%6f%63alhost',
    '[::1]',
    '[::]',
    '[0:0:0:0:0:0:0:1]',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '[::127.0.0.1]',
    '[64:ff9b::7f00:1]',
    '[2002:7f00:1::]',
    '[2001:0:4136:e378:8000:63bf:3fff:fdd2]',
    '[fe80::1]',
    '[fc00::1]',
    '[fd12:3456::1]',
    '[ff02::1]',
    '[2001:db8::1]',
    '[3fff::1]',
    '[4000::1]',
    '[5f00::1]',
    '[100::1]',
    '[fec0::1]',
    '[64:ff9b:1::1]',
    '0.0.0.0',
    '0',
    '10.1.2.3',
    '100.64.0.1',
    '100.127.255.255',
    '169.254.169.254',
    '[::ffff:169.254.169.254]',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.1.1',
    '192.0.0.1',
    '192.0.2.1',
    '198.18.0.1',
    '198.51.100.1',
    '203.0.113.1',
    '224.0.0.1',
    '239.255.255.255',
    '240.0.0.1',
    '255.255.255.255',
  ])('refuses the host %s', (host) => {
    for (const scheme of ['http', 'https']) {
      expect(strict.refusalOf(`${scheme}://${host}/hook`)).toMatch(/is not a public address/);
    }
  });

  it.each([
    ['', 'must be a URL'],
    ['hooks.example.com', 'must be a URL'],
    ['//hooks.example.com', 'must be a URL'],
    ['http://', 'must be a URL'],
    ['http://a b/', 'must be a URL'],
    ['http://127.0.0.1\n/', 'must be a URL'],
    [' http://example.com/', 'must be a URL'],
    ['ftp://example.com/', 'must start with http:// or https://'],
    ['file:///etc/passwd', 'must start with http:// or https://'],
    ['javascript:alert(1)', 'must start with http:// or https://'],
    ['gopher://127.0.0.1:6379/_FLUSHALL', 'must start with http:// or https://'],
    ['http://user@example.com/', 'must not contain credentials'],
    ['http://user:secret@example.com/', 'must not contain credentials'],
    ['http://:secret@example.com/', 'must not contain credentials'],
    ['http://example.com@127.0.0.1/', 'must not contain credentials'],
  ])('says of %j that it %s', (url, refusal) => {
    expect(strict.refusalOf(url)).toBe(refusal);
  });
});

describe('allowed ranges', () => {
  it('let through what lies in them, in every disguise, and nothing else', () => {
    const guard = guardAllowing('127.0.0.0/8', 'fd00::/8');
    for (const host of ['127.0.0.1', '2130706433', '[::ffff:127.0.0.1]', 'localhost', '[fd12::1]']) {
      expect(guard.refusalOf(`http://${host}/`)).toBeNull();
    }
    for (const host of ['10.0.0.1', '[::1]', '[fc00::1]', '169.254.169.254']) {
      expect(guard.refusalOf(`http://${host}/`)).not.toBeNull();
    }
  });

  it('let localhost through by either of its addresses', () => {
    expect(guardAllowing('::1').refusalOf('http://localhost/')).toBeNull();
    expect(guardAllowing('fd00::/8').refusalOf('http://localhost/')).not.toBeNull();
  });

  it('judge single addresses and things that are no address', () => {
    expect(guardAllowing('10.0.0.5').permits('10.0.0.5')).toBe(true);
    expect(guardAllowing('10.0.0.5').permits('10.0.0.6')).toBe(false);
    expect(strict.permits('::8.8.8.8')).toBe(false);
    expect(strict.permits('localhost')).toBe(false);
    expect(strict.permits('')).toBe(false);
  });
});

describe('lookup', () => {
  const lookUp = (guard: SsrfGuard, all: boolean) =>
    new Promise<LookupAddress[]>((resolve, reject) => {
      guard.lookup('localhost', { all }, (error, address, family) => {
        if (error !== null) reject(error);
        else resolve(typeof address === 'string' ? [{ address, family: family ?? 0 }] : address);
      });
    });
  /** The owner of a name says what it resolves to. */
  const resolvingTo =
    (...addresses: string[]): ConstructorParameters<typeof SsrfGuard>[2] =>
    (_, __, callback) =>
      callback(
        null,
        addresses.map((address) => ({ address, family: isIP(address) })),
      );

  it.each([true, false])('keeps names away from addresses that are not public (all: %s)', async (all) => {
    for (const guard of [
      strict,
      new SsrfGuard([], NO_PROXIES, resolvingTo('10.0.0.1', '::1')),
      new SsrfGuard([], NO_PROXIES, resolvingTo()),
    ]) {
      await expect(lookUp(guard, all)).rejects.toMatchObject({ kind: 'invalid', code: 'address_forbidden' });
    }
  });

  it('hands out only those of several addresses it has checked', async () => {
    const addresses = resolvingTo('10.0.0.1', '169.254.169.254', '8.8.8.8', '::1', '2606:4700::1111');
    expect(await lookUp(new SsrfGuard([], NO_PROXIES, addresses), true)).toEqual([
      { address: '8.8.8.8', family: 4 },
      { address: '2606:4700::1111', family: 6 },
    ]);
    expect(await lookUp(new SsrfGuard([], NO_PROXIES, addresses), false)).toEqual([
      { address: '8.8.8.8', family: 4 },
    ]);
    const inside = [{ address: '10.0.0.0', prefix: 8 }];
    expect(await lookUp(new SsrfGuard(inside, NO_PROXIES, addresses), false)).toEqual([
      { address: '10.0.0.1', family: 4 },
    ]);
  });

  it('resolves with the system', async () => {
    expect(await lookUp(guardAllowing('127.0.0.1'), false)).toEqual([{ address: '127.0.0.1', family: 4 }]);
  });

  it('passes on that a name does not exist, looked up once for all guards', async () => {
    const errorOf = (guard: SsrfGuard) =>
      new Promise((resolve) => guard.lookup('nothing.invalid', { all: true }, resolve));
    const [one, other] = await Promise.all([errorOf(strict), errorOf(guardAllowing('10.0.0.0/8'))]);
    expect(one).toMatchObject({ syscall: 'getaddrinfo' });
    expect(other).toBe(one);
  });
});
