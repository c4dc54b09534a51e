// Redis over TLS, by itself, behind Sentinel and as a Cluster: servers that ask for client certificates are worked with, and
// each thing that may be wrong with certificates and passwords is named, without a secret.
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RedisAccess } from '../../../src/store/redis/client/connect.ts';
import { openRedisLiveStore } from '../../../src/store/redis/live-store.ts';
import { Authority, type CertificateFiles } from '../../support/certificates.ts';
import { startRedis } from '../../support/redis-server.ts';
import { startRedisCluster, startRedisSentinel } from '../../support/redis-topologies.ts';
import { claim, queueCards, settle } from './stores.ts';

const PASSWORD = 'sentinels-secret';
const [ours, others] = [new Authority(), new Authority()];
const client = ours.issue('DNS:client');
/** By address alone, and by name alone: each is an error for who reaches it by the other. */
const [byAddress, byName] = [ours.issue('IP:127.0.0.1'), ours.issue('DNS:localhost')];

const pair = ({ cert, key }: CertificateFiles) => ({
  cert: readFileSync(cert, 'utf8'),
  key: readFileSync(key, 'utf8'),
});
const access = (over: Partial<RedisAccess>): RedisAccess => ({
  url: '',
  tls: { ca: readFileSync(ours.ca, 'utf8'), pair: pair(client) },
  sentinelPassword: PASSWORD,
  ...over,
});

const serverTls = (files: CertificateFiles) => ({ ...files, ca: ours.ca, asksClients: true });

interface Topology {
  readonly url: string;
  /** The same servers by a name that their certificates are not for. */
  readonly misnamed: string;
  stop(): Promise<void>;
}

async function standalone(): Promise<Topology> {
  const server = await startRedis({ tls: serverTls(byAddress) });
  const url = `rediss://127.0.0.1:${server.tlsPort}`;
  return { url, misnamed: url.replace('127.0.0.1', 'localhost'), stop: () => server.stop() };
}

async function sentinel(): Promise<Topology> {
  const secured = await startRedisSentinel(2, { tls: serverTls(byAddress), password: PASSWORD });
  return { ...secured, misnamed: secured.url.replaceAll('127.0.0.1', 'localhost') };
}

async function cluster(): Promise<Topology> {
  const nodes = await startRedisCluster(serverTls(byName));
  return { ...nodes, misnamed: nodes.url.replaceAll('localhost', '127.0.0.1') };
}

describe.each([
  ['standalone', standalone],
  ['Sentinel', sentinel],
  ['Cluster', cluster],
])('TLS: %s', (_, start) => {
  let topology: Topology;
  beforeAll(async () => {
    topology = await start();
  });
  afterAll(() => topology.stop());

  async function refusal(over: Partial<RedisAccess>): Promise<string> {
    const error = await openRedisLiveStore(access({ url: topology.url, ...over })).then(
      () => expect.unreachable(),
      (thrown: Error) => thrown,
    );
    expect(error).toMatchObject({
      kind: 'config',
      code: 'redis_tls',
      hint: expect.stringContaining('redis_tls_ca'),
    });
    expect(error.message).not.toMatch(/secret|PRIVATE KEY/);
    return error.message;
  }

  it('does work', async () => {
    const store = await openRedisLiveStore(access({ url: topology.url }));
    let heard = 0;
    store.work.onWork('realname', () => {
      heard += 1;
    });
    expect(await store.missingRights()).toMatchObject({ needed: [], useful: [] });
    // The first messages may come before the subscription; a card is queued once.
    let cardId = 0;
    await expect
      .poll(async () => {
        cardId += 1;
        await queueCards(store, [cardId]);
        return heard;
      })
      .toBeGreaterThan(0);
    const { items } = await claim(store, 10);
    expect(await settle(store, items, 'done')).toEqual({ fenced: 0 });
    await store.close();
  });

  it('names an authority that did not sign', async () => {
    const tls = { ca: readFileSync(others.ca, 'utf8'), pair: pair(client) };
    const said = 'its certificate is of no authority that is trusted here';
    const refusals = [refusal({ tls }), refusal({ tls: { ca: null, pair: pair(client) } })];
    for (const message of await Promise.all(refusals)) expect(message).toContain(said);
  });

  it('names a certificate for other names', async () => {
    expect(await refusal({ url: topology.misnamed })).toContain('for other names than it is reached by');
  });

  it('names a client certificate that is missing, or of another authority', async () => {
    const ca = readFileSync(ours.ca, 'utf8');
    const said = 'it asks for a client certificate and was shown none that it takes';
    const pairs = [null, pair(others.issue('DNS:client'))];
    const refusals = pairs.map((shown) => refusal({ tls: { ca, pair: shown } }));
    for (const message of await Promise.all(refusals)) expect(message).toContain(said);
  });
});

it('nothing that listens is unreachable, also over TLS', async () => {
  await expect(openRedisLiveStore(access({ url: 'rediss://127.0.0.1:1' }))).rejects.toMatchObject({
    kind: 'unavailable',
    code: 'redis_unreachable',
  });
});

it.each([null, 'another-secret'])(
  'sentinels that want another password than %j say so',
  async (sentinelPassword) => {
    const secured = await startRedisSentinel(1, { tls: serverTls(byAddress), password: PASSWORD });
    await expect(openRedisLiveStore(access({ url: secured.url, sentinelPassword }))).rejects.toMatchObject({
      kind: 'config',
      code: 'redis_sentinel_auth',
      message: expect.not.stringContaining('secret'),
      hint: expect.stringContaining('CARDPOLL_REDIS_SENTINEL_PASSWORD'),
    });
    await secured.stop();
  },
);
