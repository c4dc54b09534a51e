// The shipped profiles of vendors that know a card by an id of their own, each against a gateway written from the same description: a
// fleet that the daemon polls and stops, and `gateway try` with a card that is unknown, has no usage yet, or is another one.
import { afterEach, describe, expect, it } from 'vitest';
import { cliHere } from '../../support/cli-here.ts';
import { firstRows } from '../../support/effort.ts';
import { EMNIFY_APPLICATION, type EmnifyGateway, startEmnify } from '../../support/gateways/emnify.ts';
import { HOLOGRAM_CREDENTIALS, startHologram } from '../../support/gateways/hologram.ts';
import { startTelnyx, TELNYX_KEY } from '../../support/gateways/telnyx.ts';
import { startTwilio, TWILIO_CREDENTIALS } from '../../support/gateways/twilio-super-sim.ts';
import type { VendorGateway } from '../../support/gateways/vendor-gateway.ts';
import type { VendorIds } from '../../support/gateways/vendor-ids.ts';
import { OVER, VendorFleet } from '../../support/vendor-fleet.ts';

const ICCID = '89310410106543789301';
const OTHER = '89310410106543789319';

interface Vendor {
  readonly gateway: VendorGateway;
  readonly ids: VendorIds;
  /** Tokens that were asked for. */
  readonly issued?: readonly string[];
}

interface Described<V extends Vendor = Vendor> {
  readonly profile: string;
  readonly path: string;
  readonly credentials: Readonly<Record<string, string>>;
  start(): Promise<V>;
}

const basic = ({ username, password }: { readonly username: string; readonly password: string }) => ({
  CARDPOLL_GATEWAY_USERNAME: username,
  CARDPOLL_GATEWAY_PASSWORD: password,
});

const HOLOGRAM = {
  profile: 'hologram',
  path: '/api/1',
  credentials: basic(HOLOGRAM_CREDENTIALS),
  start: startHologram,
};
const TELNYX = {
  profile: 'telnyx',
  path: '/v2',
  credentials: { CARDPOLL_GATEWAY_TOKEN: TELNYX_KEY },
  start: startTelnyx,
};
const TWILIO = {
  profile: 'twilio-super-sim',
  path: '/v1',
  credentials: basic(TWILIO_CREDENTIALS),
  start: startTwilio,
};

const EMNIFY = {
  profile: 'emnify',
  path: '/api/v1',
  credentials: { CARDPOLL_GATEWAY_TOKEN: EMNIFY_APPLICATION },
  start: startEmnify,
};

const ERROR = { body: { errors: [{ message: 'down for maintenance' }] } };
const opened: Array<() => Promise<void>> = [];
afterEach(async () => {
  for (const close of opened.splice(0)) await close();
});

async function trying<V extends Vendor>(described: Described<V>) {
  const vendor = await described.start();
  opened.push(() => vendor.gateway.close());
  const { profile, path, credentials } = described;
  const attempt = async (iccid: string, vendorId: string, ...args: readonly string[]) => {
    const card = ['--iccid', iccid, '--vendor-id', vendorId, '--profile', profile];
    const url = ['--gateway-url', vendor.gateway.url + path];
    const { code, stdout, stderr } = await cliHere(
      ['gateway', 'try', ...url, ...card, ...args, '-o', 'json'],
      {
        env: credentials,
      },
    );
    for (const secret of [...Object.values(credentials), ...(vendor.issued ?? [])])
      if (secret !== HOLOGRAM_CREDENTIALS.username) expect(stdout + stderr).not.toContain(secret);
    const { items } = JSON.parse(stdout);
    return { code, flow: items[0], status: items[1] };
  };
  const usedBytes = (bytes: number) => {
    const card = vendor.gateway.card(ICCID);
    if (card !== undefined) card.usedBytes = bytes;
  };
  return { ...vendor, vendor, attempt, usedBytes, id: vendor.ids.of(ICCID) };
}

const VENDORS: readonly Described[] = [EMNIFY, TWILIO, HOLOGRAM, TELNYX];

describe.each<Described>(firstRows(1, VENDORS))('$profile', (described) => {
  it('is read in its unit, stopped once by its id and brought back', async () => {
    const { gateway, ids } = await described.start();
    // A stop takes effect a moment later, as the description says.
    gateway.troubles.effectMs = 1_000;
    const { profile, path, credentials } = described;
    const fleet = await VendorFleet.start({ gateway, ids, profile, path, credentials });
    opened.push(() => fleet.close());
    await fleet.importCards();
    await fleet.expectTrueReadings();
    await fleet.expectOneStopAndResume();
    await fleet.expectOnlyTheUnknownCardToFail([OVER]);
    const { unauthorized, misunderstood, calls } = gateway.stats();
    expect({ unauthorized, misunderstood }).toEqual({ unauthorized: 0, misunderstood: [] });
    expect(calls.realname).toBe(0);
  });
});

describe.each<Described>(VENDORS)('$profile', (described) => {
  it('is stopped and brought back by its id, once each, by hand', async () => {
    const { attempt, gateway, id } = await trying(described);
    for (const name of ['stop', 'start'])
      expect((await attempt(ICCID, id, '--interface', name, '--yes')).flow).toMatchObject({ ok: true });
    const { stops, starts, misunderstood } = gateway.stats();
    expect([stops, starts, misunderstood]).toEqual([{ [ICCID]: 1 }, { [ICCID]: 1 }, []]);
  });

  it('is tried: megabytes, and a card without usage yet', async () => {
    const { attempt, id, usedBytes } = await trying(described);
    expect(await attempt(ICCID, id)).toMatchObject({ code: 0, flow: { value: 0 }, status: { ok: true } });
    usedBytes(503_417_039);
    expect(await attempt(ICCID, id)).toMatchObject({
      code: 0,
      flow: { value: 503.417039, warning: null },
      status: { ok: true, warning: null },
    });
  });

  it('is tried with a card that the vendor does not know', async () => {
    const { attempt, gateway, id } = await trying(described);
    gateway.unknown.add(ICCID);
    const { code, flow, status } = await attempt(ICCID, id);
    expect([code, flow.error, status.error]).toEqual([1, 'card', 'card']);
  });
});

describe.each<Described & { readonly error: string; readonly reason: string }>([
  { ...HOLOGRAM, error: 'card', reason: 'the list of the answer does not have this card' },
  { ...TELNYX, error: 'malformed', reason: `the answer is about another card: ${ICCID}` },
])('$profile', ({ error, reason, ...described }) => {
  it('reads nothing by the id of another card', async () => {
    const { attempt, usedBytes, id } = await trying(described);
    usedBytes(777_000_000);
    const { code, flow, status } = await attempt(OTHER, id);
    expect(code).toBe(1);
    for (const tried of [flow, status]) expect(tried).toMatchObject({ value: null, error, reason });
  });
});

it.each(['KB', 'GB'] as const)('telnyx: reads a volume in %s', async (unit) => {
  const { attempt, vendor, usedBytes, id } = await trying(TELNYX);
  vendor.unit = unit;
  usedBytes(1_234_500_000);
  expect(await attempt(ICCID, id, '--interface', 'flow')).toMatchObject({
    code: 0,
    flow: { value: 1_234.5 },
  });
});

it('twilio-super-sim: shows by the status what usage does not', async () => {
  const { attempt, vendor, usedBytes, id } = await trying(TWILIO);
  usedBytes(1_000_000);
  const other = await attempt(OTHER, id);
  expect([other.code, other.status.reason]).toEqual([1, `the answer is about another card: ${ICCID}`]);
  vendor.strictUsage = false;
  const nobody = await attempt(ICCID, 'HS00');
  expect(nobody).toMatchObject({ code: 1, flow: { value: 0 }, status: { error: 'card' } });
});

it('emnify: logs in once for a try, shows no token, and shows by the status what usage does not', async () => {
  const { attempt, vendor, usedBytes, id } = await trying(EMNIFY);
  usedBytes(1_000_000);
  const other = await attempt(OTHER, id);
  expect([other.code, other.status.reason]).toEqual([1, `the answer is about another card: ${ICCID}`]);
  expect(vendor.issued).toHaveLength(1);
});

it.each([
  ['is not a list', (vendor: EmnifyGateway) => Object.assign(vendor, { isList: false })],
  ['is an error', ({ gateway }: EmnifyGateway) => Object.assign(gateway.troubles, { instead: ERROR })],
])('emnify: takes no answer for 0 MB that %s', async (_, change) => {
  const { attempt, vendor, usedBytes, id } = await trying(EMNIFY);
  change(vendor);
  usedBytes(0);
  expect(await attempt(ICCID, id)).toMatchObject({ code: 1, flow: { value: null, error: 'malformed' } });
});
