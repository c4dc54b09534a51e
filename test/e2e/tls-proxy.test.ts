// A proxy that speaks TLS itself: its certificate is for its own name or address, and is checked against that, never against the name
// of the server behind it. In a process of its own, since Node reads NODE_EXTRA_CA_CERTS only when it starts.
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { demoIccid } from '../../src/gateway/simulate/simulated-fleet.ts';
import { answer, startBadGateway } from '../support/bad-gateway.ts';
import { Authority } from '../support/certificates.ts';
import { type ForwardProxy, startForwardProxy } from '../support/forward-proxy.ts';
import { runCli } from '../support/processes.ts';

const FLOW = '{"code":200,"data":{"used":12.5}}';

let authority: Authority;
beforeAll(() => {
  authority = new Authority();
});
const issued = (names: string) => {
  const { cert, key } = authority.issue(names);
  return { cert: readFileSync(cert, 'utf8'), key: readFileSync(key, 'utf8') };
};

/** @returns the address of a gateway that has certificates for these names where it speaks TLS. */
async function gatewayOf(scheme: string, names: string): Promise<string> {
  if (scheme === 'http') {
    const plain = await startBadGateway(answer(200, FLOW));
    onTestFinished(() => plain.close());
    return plain.url;
  }
  const secure = createServer(issued(names), (request, response) => {
    request.resume().on('end', () => response.end(FLOW));
  });
  secure.listen(0, '127.0.0.1');
  await once(secure, 'listening');
  onTestFinished(() => {
    secure.closeAllConnections();
    secure.close();
  });
  return `http://127.0.0.1:${(secure.address() as AddressInfo).port}`;
}

/** @param host of the gateway. @param proxyNames what the certificate of the proxy is for. */
async function proxyTo(scheme: string, host: string, proxyNames: string): Promise<ForwardProxy> {
  const server = await gatewayOf(scheme, host === 'gateway.example' ? `DNS:${host}` : `IP:${host}`);
  const port = scheme === 'https' ? 443 : 80;
  const proxy = await startForwardProxy({
    servers: { [`${host}:${port}`]: server },
    tls: issued(proxyNames),
  });
  onTestFinished(() => proxy.close());
  return proxy;
}

function tryFlow(url: string, proxyUrl: string) {
  const args = ['gateway', 'try', '--iccid', demoIccid(1), '--interface', 'flow', '--gateway-url', url];
  const env = { HTTP_PROXY: proxyUrl, HTTPS_PROXY: proxyUrl, NODE_EXTRA_CA_CERTS: authority.ca };
  return runCli([...args, '-o', 'json'], { env });
}

describe.each(['http', 'https'])('an %s:// gateway', (scheme) => {
  it.each([
    ['gateway.example', 'localhost', 'DNS:localhost'],
    ['gateway.example', '127.0.0.1', 'IP:127.0.0.1'],
    ['93.184.215.14', 'localhost', 'DNS:localhost'],
  ])('%s is reached through a proxy at %s whose certificate is for %s', async (host, at, names) => {
    const proxy = await proxyTo(scheme, host, names);
    const { code, stdout } = await tryFlow(`${scheme}://${host}`, `https://${at}:${proxy.port}`);
    expect([code, stdout]).toEqual([0, expect.stringMatching(/"value": ?12\.5/)]);
    expect(proxy.asked).toHaveLength(1);
  });

  it.each([
    ['localhost', 'DNS:gateway.example'],
    ['127.0.0.1', 'DNS:gateway.example,DNS:localhost'],
  ])('is not asked for through a proxy at %s that shows a certificate for %s', async (at, names) => {
    const proxy = await proxyTo(scheme, 'gateway.example', names);
    const { code, stdout } = await tryFlow(`${scheme}://gateway.example`, `https://${at}:${proxy.port}`);
    expect([code, stdout]).toEqual([1, expect.stringMatching(/altnames|cert's list/)]);
    expect(proxy.asked).toEqual([]);
  });
});
