// A gateway that only a module can talk to, and that allows one poll of a card in a few seconds: what the daemon does while the
// module works, and while it throws, hangs, or answers a promise or rubbish.
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { demoIccid } from '../../../src/gateway/simulate/simulated-fleet.ts';
import type { OverviewBody } from '../../../src/resources/stats.ts';
import type { TriggerBody } from '../../../src/resources/triggers.ts';
import { Fleet } from '../../support/fleet.ts';
import { type VendorAnswer, type VendorCall, VendorGateway } from '../../support/gateways/vendor-gateway.ts';
import { waitFor } from '../../support/processes.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const CARDS = 40;
const KEY = 'module-signing-key';
const EVERY_SECONDS = 2;
/** Between a poll by hand and the next scheduled one are up to five seconds: two in five would be too early. */
const INTERVAL_SECONDS = 5;
const TOO_EARLY = 'poll by hand is too early and waits';
const MODULE = `
  import { createHash } from 'node:crypto';
  import { readFileSync } from 'node:fs';
  const mode = () => readFileSync(new URL('mode', import.meta.url), 'utf8');

  export function sign({ query, key, now }) {
    if (mode() === 'sign throws') throw new Error('no signature with ' + key);
    while (mode() === 'sign hangs');
    const ts = String(now);
    return { query: { ts, sign: createHash('md5').update(query.iccid + ts + key).digest('hex') } };
  }

  export function read(name, response, cards) {
    if (mode() === 'read throws') throw new Error('no answer that I know');
    if (mode() === 'read promises') return Promise.reject(new Error('later'));
    if (mode() === 'read rubbish') return [{ value: '12,5' }];
    return cards.map(() => ({ value: response.body.split(';').reduce((sum, bytes) => sum + Number(bytes), 0) / 1e6 }));
  }
`;

const dir = temporaryDirectory('module');
const be = (mode: string) => writeFileSync(join(dir, 'mode'), mode);
const arrivals = new Map<string, number[]>();
let gateway: VendorGateway;
let fleet: Fleet;
let database: pg.Client;

/** Usage of two packages in bytes, as text. */
function answer({ query }: VendorCall, vendor: VendorGateway): VendorAnswer {
  const iccid = query.get('iccid') ?? '';
  const signature = createHash('md5')
    .update(`${iccid}${query.get('ts')}${KEY}`)
    .digest('hex');
  if (query.get('sign') !== signature) {
    vendor.refuseCredentials();
    return { status: 401 };
  }
  arrivals.set(iccid, [...(arrivals.get(iccid) ?? []), performance.now()]);
  return { body: `${vendor.card(iccid)?.usedBytes};1000000` };
}

beforeAll(async () => {
  writeFileSync(join(dir, 'ours.mjs'), MODULE, { mode: 0o600 });
  be('works');
  const gatewaySection = {
    module: './ours.mjs',
    auth: { kind: 'none' },
    success: {},
    interfaces: {
      flow: { method: 'GET', path: '/usage', query: { iccid: '{iccid}' } },
      ...Object.fromEntries(
        ['realname', 'card_status', 'stop', 'start'].map((name) => [name, { enabled: false }]),
      ),
    },
    rate_limits: [{ per_card: true, interfaces: ['flow'], every_seconds: EVERY_SECONDS }],
  };
  writeFileSync(join(dir, 'cardpoll.yaml'), stringify({ gateway: gatewaySection }), { mode: 0o600 });
  gateway = await VendorGateway.start(answer);
  fleet = await Fleet.start({
    gatewayUrl: gateway.url,
    env: { CARDPOLL_CONFIG: join(dir, 'cardpoll.yaml'), CARDPOLL_GATEWAY_HMAC_KEY: KEY },
  });
  await fleet.startDaemon();
  await fleet.setIntervals(INTERVAL_SECONDS);
  await fleet.importCards(CARDS);
  database = new pg.Client({ connectionString: fleet.databaseUrl });
  await database.connect();
});
afterAll(async () => {
  await database?.end();
  fleet?.close();
  await gateway?.close();
});

/** Each card has used a megabyte more; waits until the daemon knows. */
async function readGrowth(): Promise<void> {
  const ids = Array.from({ length: CARDS }, (_, i) => i + 1);
  const cards = ids.map((id) => gateway.card(demoIccid(id)));
  for (const card of cards) if (card !== undefined) card.usedBytes += 1_000_000;
  const expected = cards.map((card) => (card?.usedBytes ?? 0) / 1e6 + 1);
  await waitFor(
    async () => {
      const { rows } = await database.query('SELECT last_reading_mb FROM card_usage ORDER BY card_id');
      return JSON.stringify(rows.map((row) => row.last_reading_mb)) === JSON.stringify(expected);
    },
    { everyMs: 100, what: 'the growth of all cards in the database' },
  );
}

it('signs and reads by the module, and polls no card more often than allowed, by hand or not', async () => {
  await readGrowth();
  const ids = Array.from({ length: CARDS }, (_, i) => i + 1).join(',');
  await fleet.cli('trigger', 'batch', '--card-ids', ids, '--task', 'carddata');
  await readGrowth();
  expect(gateway.stats().unauthorized).toBe(0);
  const gaps = [...arrivals.values()].flatMap((times) => times.slice(1).map((at, i) => at - (times[i] ?? 0)));
  expect(gaps.length).toBeGreaterThanOrEqual(CARDS);
  // A call may arrive late on a busy machine, so that the next one seems early. Without the rule polls by hand come at once.
  expect(Math.min(...gaps)).toBeGreaterThan((EVERY_SECONDS * 1_000) / 2);
  expect(await fleet.logged('scheduled poll is too early and waits')).not.toEqual([]);
});

it('makes a poll by hand that is too early, also if each scheduled one would come before it', async () => {
  await fleet.setIntervals(EVERY_SECONDS);
  await readGrowth();
  const began = (await fleet.logged(TOO_EARLY)).length;
  // On a busy machine a poll by hand may come late enough to be made at once: then the next one is asked for.
  await waitFor(
    async () => {
      await pollByHand();
      return (await fleet.logged(TOO_EARLY)).length > began;
    },
    { what: 'a line of a poll too early' },
  );
});

async function pollByHand(): Promise<void> {
  const { stdout } = await fleet.cli(
    ...['trigger', 'batch', '--card-ids', '1,2,3', '--task', 'carddata', '-o', 'json'],
  );
  const path = `/api/admin/polling-manual-trigger/${JSON.parse(stdout).trigger_id}`;
  const trigger = await waitFor(
    async () => {
      const state = await fleet.get<TriggerBody>(path);
      return state.status === 'completed' ? state : null;
    },
    { everyMs: 50, what: 'the trigger to be completed' },
  );
  expect(trigger).toMatchObject({ succeeded: 3, early: 0, early_until: null });
}

it.each([
  ['sign throws', 'connect', 'module ours.mjs: sign failed: no signature with ***'],
  ['read throws', 'malformed', 'module ours.mjs: read failed: no answer that I know'],
  [
    'read promises',
    'malformed',
    'module ours.mjs: read failed: it returned a promise, and has to answer at once',
  ],
  ['read rubbish', 'malformed', 'not a number of megabytes'],
])('says what is wrong with a module: %s', async (mode, error, reason) => {
  be(mode);
  const [line] = await waitFor(
    async () => {
      const failed = (await fleet.logged('poll failed')).filter((one) => String(one.reason).includes(reason));
      return failed.length > 0 ? failed : null;
    },
    { everyMs: 100, what: `polls that fail because of "${mode}"` },
  );
  expect(line?.error).toBe(error);
  const { stdout } = await fleet.cli('explain', String(line?.card_id), '-o', 'json');
  expect(JSON.parse(stdout).tasks).toContainEqual(
    expect.objectContaining({ last_failure: expect.objectContaining({ reason: error }) }),
  );
});

it('shows the interface as dead, and its reason', async () => {
  await waitFor(
    async () => {
      const { tasks } = await fleet.get<OverviewBody>('/api/admin/polling-stats');
      const reasons = tasks.flatMap(({ health_reasons }) => health_reasons);
      return reasons.some(({ code }) => code === 'breaker_open');
    },
    { everyMs: 100, what: 'the breaker of flow to be shown as open' },
  );
});

it('polls all cards again after a hang of the module that ended, and never shows the key', async () => {
  be('sign hangs');
  const url = `${fleet.daemons[0]?.url}/livez`;
  await waitFor(
    () =>
      fetch(url, { signal: AbortSignal.timeout(500) }).then(
        () => false,
        () => true,
      ),
    {
      everyMs: 50,
      what: 'the daemon to hang in the module',
    },
  );
  be('works');
  await readGrowth();
  expect(fleet.daemons[0]?.process.running).toBe(true);
  for await (const line of fleet.logLines()) expect(JSON.stringify(line)).not.toContain(KEY);
});
