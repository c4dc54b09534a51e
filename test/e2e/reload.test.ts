// SIGHUP on a real daemon: what can change changes at once, what cannot is named, a mistake changes nothing.
import { execFileSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { demoIccid } from '../../src/gateway/simulate/simulated-fleet.ts';
import { answer, type BadGateway, startBadGateway } from '../support/bad-gateway.ts';
import { cliHere } from '../support/cli-here.ts';
import { type Daemon, Fleet } from '../support/fleet.ts';
import { HEALTHY } from '../support/healthy-answers.ts';
import { waitFor } from '../support/processes.ts';

const [FIRST, SECOND] = ['first-operator-token-1', 'second-operator-token-2'];

let gateway: BadGateway;
let fleet: Fleet;
let daemon: Daemon;
let configFile: string;
let tokensFile: string;
let gatewayTokenFile: string;

beforeAll(async () => {
  gateway = await startBadGateway(answer(200, JSON.stringify({ code: 200, data: HEALTHY.realname })));
  fleet = await Fleet.start({ gatewayUrl: gateway.url });
  configFile = join(fleet.dir, 'cardpoll.yaml');
  tokensFile = join(fleet.dir, 'tokens');
  gatewayTokenFile = join(fleet.dir, 'gateway-token');
  configure('log_level: info\n', FIRST);
  writeFileSync(gatewayTokenFile, 'of-monday\n', { mode: 0o600 });
  daemon = await fleet.startDaemon({
    CARDPOLL_CONFIG: configFile,
    CARDPOLL_ADMIN_TOKENS_FILE: tokensFile,
    CARDPOLL_GATEWAY_TOKEN_FILE: gatewayTokenFile,
  });
});
afterAll(async () => {
  fleet?.close();
  await gateway?.close();
});

function configure(yaml: string, token: string): void {
  writeFileSync(configFile, yaml);
  writeFileSync(tokensFile, `operator:${token}\n`, { mode: 0o600 });
}

/** Sends SIGHUP and waits for the line that ends the reload. */
async function reload(message: RegExp): Promise<Record<string, unknown>> {
  const before = (await fleet.logged(message)).length;
  daemon.process.signal('SIGHUP');
  return waitFor(async () => (await fleet.logged(message))[before], { what: `a line ${message}` });
}

const ask = async (token: string) =>
  fetch(`${daemon.url}/api/admin/polling-configs`, { headers: { authorization: `Bearer ${token}` } });

it('takes another log level, other tokens and another rate limit', async () => {
  const first = await ask(FIRST);
  expect([first.status, first.headers.get('ratelimit-limit')]).toEqual([200, '12000']);
  configure('log_level: debug\napi:\n  rate_limit_per_minute: 500\n', SECOND);
  const line = await reload(/^configuration reloaded$/);
  expect(line).toMatchObject({ changed: ['log_level', 'admin_tokens', 'rate_limit_per_minute'] });
  expect(JSON.stringify(line)).not.toContain(SECOND);
  expect((await ask(FIRST)).status).toBe(401);
  const second = await ask(SECOND);
  expect([second.status, second.headers.get('ratelimit-limit')]).toEqual([200, '500']);
});

it('calls the gateway with the token that was rotated', async () => {
  const cli = (...args: string[]) =>
    cliHere(args, { env: { CARDPOLL_URL: daemon.url, CARDPOLL_TOKEN: SECOND } });
  const card = join(fleet.dir, 'card.csv');
  writeFileSync(card, `card_id,iccid,carrier_id,status\n1,${demoIccid(1)},1,1\n`);
  await cli('cards', 'import', card, '--yes');
  const poll = () => cli('trigger', 'single', '--card-id', '1', '--task', 'realname', '--wait');
  expect(await poll()).toMatchObject({ code: 0 });
  writeFileSync(gatewayTokenFile, 'of-tuesday\n', { mode: 0o600 });
  expect(await reload(/^configuration reloaded$/)).toMatchObject({ changed: ['gateway_credentials'] });
  const before = gateway.requests.length;
  expect(await poll()).toMatchObject({ code: 0 });
  const tokens = gateway.requests.map(({ headers }) => headers.authorization);
  expect([tokens[0], ...new Set(tokens.slice(before))]).toEqual(['Bearer of-monday', 'Bearer of-tuesday']);
});

it('names what needs a restart, every time until then', async () => {
  configure('log_level: warn\npolling:\n  claim_batch: 7\ntime_zone: UTC\n', SECOND);
  for (let again = 0; again < 2; again += 1) {
    expect(await reload(/need a restart$/)).toMatchObject({
      level: 'warn',
      settings: ['time_zone', 'polling.claim_batch'],
    });
  }
});

it('keeps all of the present configuration when the new one has a mistake', async () => {
  configure('log_level: nonsense\npolling:\n  lease_mss: 1\n', FIRST);
  const line = await reload(/^configuration not reloaded/);
  expect(line).toMatchObject({ level: 'error', reason: expect.stringMatching(/lease_ms.*nonsense/s) });
  expect((await ask(SECOND)).status).toBe(200);
  expect((await ask(FIRST)).status).toBe(401);
});

it('refuses a token file that is a FIFO, and does not wait for a writer', async () => {
  configure('log_level: info\n', SECOND);
  rmSync(tokensFile);
  execFileSync('mkfifo', ['-m', '600', tokensFile]);
  const line = await reload(/^configuration not reloaded/);
  expect(line).toMatchObject({ reason: expect.stringContaining(`${tokensFile} is a FIFO`) });
  expect((await ask(SECOND)).status).toBe(200);
  rmSync(tokensFile);
});

it('is a reason of health until a reload works', async () => {
  const reason = async () => {
    const headers = { authorization: `Bearer ${SECOND}` };
    const stats = await fetch(`${daemon.url}/api/admin/polling-stats`, { headers });
    const { health_reasons } = (await stats.json()) as { health_reasons: { code: string; text: string }[] };
    return health_reasons.find(({ code }) => code === 'reload_failed');
  };
  const isTold = async () => (await reason())?.text.includes(`${tokensFile} is a FIFO`);
  await waitFor(isTold, { what: 'the reason reload_failed' });
  configure('log_level: info\n', SECOND);
  await reload(/^configuration reloaded$/);
  await waitFor(async () => (await reason()) === undefined, { what: 'the reason to be gone' });
});
