// The heartbeat for those who watch from outside, of a real daemon: it comes while cards are polled, stays away while the gateway is
// dead, and comes again. Its URL is shown nowhere.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { answer, type BadGateway, startBadGateway } from '../support/bad-gateway.ts';
import { Fleet } from '../support/fleet.ts';
import { waitFor } from '../support/processes.ts';
import { runDoctor } from '../support/run-doctor.ts';
import { healthy, type ScriptedGateway, startScriptedGateway } from '../support/scripted-gateway.ts';

/** Reasons that only a gateway which is gone gives. */
const ITS_DEATH = /breaker_open|failures: connect/;
const TOKEN = 'f47ac10b-58cc-4372-a567';
let gateway: ScriptedGateway;
let watcher: BadGateway;
let fleet: Fleet;

beforeAll(async () => {
  gateway = await startScriptedGateway();
  fleet = await Fleet.start({ gatewayUrl: gateway.url });
  watcher = await startBadGateway(answer(200, 'OK'));
  await fleet.startDaemon({
    CARDPOLL_WEBHOOKS_ALLOW_CIDRS: '127.0.0.1/32',
    CARDPOLL_ALERTS_HEARTBEAT_URL: `${watcher.url}/ping/${TOKEN}`,
    CARDPOLL_ALERTS_HEARTBEAT_INTERVAL_MS: '1s',
  });
});
afterAll(async () => {
  fleet?.close();
  await gateway?.close();
  await watcher?.close();
});

/** By what the watcher itself counted. */
const beat = () => {
  const { length } = watcher.requests;
  return waitFor(() => watcher.requests.length > length, { what: 'a heartbeat' });
};
/** By a line after the first `before`. */
const withheld = (reason: RegExp, before = 0) =>
  waitFor(async () => (await withholdings()).slice(before).some((line) => reason.test(String(line.reason))), {
    everyMs: 100,
    what: `a heartbeat that is withheld: ${reason}`,
  });
const withholdings = () => fleet.logged('heartbeat withheld');

it('beats only while cards are polled', async () => {
  await withheld(/no card is to be polled/);
  expect(watcher.requests, 'without a card').toEqual([]);
  await fleet.setIntervals(5);
  await fleet.importCards(100);
  await beat();
  await beat();
  const { port } = new URL(gateway.url);
  const before = (await withholdings()).length;
  await gateway.close();
  await withheld(ITS_DEATH, before);
  const { length } = watcher.requests;
  const [{ logDir = '', url = '' } = {}] = fleet.daemons;
  const env = {
    CARDPOLL_REDIS_URL: fleet.redisServer.url,
    CARDPOLL_DATABASE_URL: fleet.databaseUrl,
    CARDPOLL_GATEWAY_URL: gateway.url,
    CARDPOLL_URL: url,
  };
  let report: unknown;
  // An instance says every two seconds what became of its heartbeat, so the doctor may know it later than the log.
  await waitFor(
    async () => {
      const doctor = await runDoctor(env);
      report = doctor.report;
      const { status, detail = '' } = doctor.found('heartbeat') ?? {};
      return status === 'warning' && /^not sent, last accepted at 20/.test(detail) && ITS_DEATH.test(detail);
    },
    { what: 'the doctor to warn of the heartbeat' },
  );
  expect(watcher.requests, 'while the gateway is dead').toHaveLength(length);
  gateway = await startScriptedGateway(healthy, Number(port));
  await beat();
  const shown = readFileSync(join(logDir, 'worker.log'), 'utf8') + JSON.stringify(report);
  expect(shown).not.toContain(TOKEN);
});
