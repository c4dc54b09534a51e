// SIGHUP on a real daemon when nothing but its certificate for the gateway has changed: in the same files, or by other paths.
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { demoIccid } from '../../src/gateway/simulate/simulated-fleet.ts';
import { type Daemon, Fleet } from '../support/fleet.ts';
import { HEALTHY } from '../support/healthy-answers.ts';
import { waitFor } from '../support/processes.ts';
import { certificatePath, installPair, type PairName, tlsPair } from '../support/tls-pair.ts';

const ANSWER = JSON.stringify({ code: 200, data: HEALTHY.realname });
const SECOND = new X509Certificate(tlsPair('second').cert).raw;
/** The name of the certificate that each call showed. */
const shown: PairName[] = [];

let server: Server;
let fleet: Fleet;
let daemon: Daemon;
let configFile: string;

const fileOf = (name: string) => join(fleet.dir, name);

function configure(pair: string): void {
  const gateway = {
    tls_cert: fileOf(`${pair}.crt`),
    tls_key: fileOf(`${pair}.key`),
    tls_ca: certificatePath('first'),
  };
  writeFileSync(configFile, JSON.stringify({ gateway }));
}

beforeAll(async () => {
  const ca = [tlsPair('first').cert, tlsPair('second').cert];
  server = createServer({ ...tlsPair('first'), ca, requestCert: true }, ({ socket }, response) => {
    const { raw } = (socket as TLSSocket).getPeerX509Certificate() ?? {};
    shown.push(raw?.equals(SECOND) === true ? 'second' : 'first');
    response.end(ANSWER);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  fleet = await Fleet.start({ gatewayUrl: `https://127.0.0.1:${port}` });
  configFile = fileOf('cardpoll.yaml');
  installPair('first', fileOf('used.crt'), fileOf('used.key'));
  configure('used');
  daemon = await fleet.startDaemon({ CARDPOLL_CONFIG: configFile });
  const cards = fileOf('cards.csv');
  writeFileSync(cards, `card_id,iccid,carrier_id,status\n1,${demoIccid(1)},1,1\n`);
  await fleet.cli('cards', 'import', cards, '--yes');
});
afterAll(async () => {
  fleet?.close();
  server?.closeAllConnections();
  server?.close();
});

async function reloaded(): Promise<Record<string, unknown> | undefined> {
  const message = /^configuration reloaded$/;
  const before = (await fleet.logged(message)).length;
  daemon.process.signal('SIGHUP');
  return waitFor(async () => (await fleet.logged(message))[before], { what: 'the reload' });
}

/** The certificate of the call that a poll by hand makes. */
async function polledWith(name: PairName): Promise<void> {
  const before = shown.length;
  const { code } = await fleet.cli('trigger', 'single', '--card-id', '1', '--task', 'realname', '--wait');
  expect(code).toBe(0);
  await waitFor(() => shown.slice(before).at(-1) === name, {
    what: `a connection that shows the ${name} one`,
  });
  expect(new Set(shown.slice(before))).toEqual(new Set([name]));
}

it('shows the certificate that is in the same files now, then the one of other files', async () => {
  await polledWith('first');
  installPair('second', fileOf('used.crt'), fileOf('used.key'));
  expect(await reloaded()).toMatchObject({ changed: ['gateway_credentials'] });
  await polledWith('second');
  installPair('first', fileOf('other.crt'), fileOf('other.key'));
  configure('other');
  expect(await reloaded()).toMatchObject({ changed: ['gateway_credentials'] });
  await polledWith('first');
  expect(await fleet.logged(/need a restart$/)).toEqual([]);
});
