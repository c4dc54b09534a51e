// Shipped profiles, one or more for each mechanism, against a gateway written from the same description: `gateway try` with a card that
// is unknown, has no usage yet, or is another one, and for vendors that know a card by an id of their own a fleet that the daemon
// polls and stops. Such fleets of other vendors: test/long/gateways. Profiles without a gateway here:
// test/unit/gateway/call/answers-of-vendors.test.ts.
import { afterEach, describe, expect, it } from 'vitest';
import { cliHere } from '../../support/cli-here.ts';
import { firstRows } from '../../support/effort.ts';
import { ONCE_CREDENTIALS, startOnce } from '../../support/gateways/1nce.ts';
import { CISCO_CREDENTIALS, startCiscoControlCenter } from '../../support/gateways/cisco-control-center.ts';
import { EMNIFY_APPLICATION, type EmnifyGateway, startEmnify } from '../../support/gateways/emnify.ts';
import { HOLOGRAM_CREDENTIALS, startHologram } from '../../support/gateways/hologram.ts';
import { GSL_TOKEN, startHuaweiGsl } from '../../support/gateways/huawei-gsl.ts';
import { ONELINK_APPLICATION, startOneLink } from '../../support/gateways/onelink.ts';
import { startTwilio, TWILIO_CREDENTIALS } from '../../support/gateways/twilio-super-sim.ts';
import type { VendorGateway } from '../../support/gateways/vendor-gateway.ts';
import type { VendorIds } from '../../support/gateways/vendor-ids.ts';
import { OVER, VendorFleet } from '../../support/vendor-fleet.ts';

const ICCID = '89310410106543789301';
const OTHER = '89310410106543789319';

interface Vendor {
  readonly gateway: VendorGateway;
  /** Absent: it knows cards by their ICCIDs. */
  readonly ids?: VendorIds;
  /** Tokens that were asked for. */
  readonly issued?: readonly string[];
}

interface Described<V extends Vendor = Vendor> {
  readonly profile: string;
  readonly path: string;
  readonly credentials: Readonly<Record<string, string>>;
  start(): Promise<V>;
}
type WithIds = Vendor & { readonly ids: VendorIds };

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

/** Names that are no secret. */
const SHOWN: ReadonlySet<string> = new Set([HOLOGRAM_CREDENTIALS.username, ONELINK_APPLICATION.appid]);
const ERROR = { body: { errors: [{ message: 'down for maintenance' }] } };
const opened: Array<() => Promise<void>> = [];
afterEach(async () => {
  for (const close of opened.splice(0)) await close();
});

async function trying<V extends Vendor>(described: Described<V>) {
  const vendor = await described.start();
  opened.push(() => vendor.gateway.close());
  const { profile, path, credentials } = described;
  const id = vendor.ids?.of(ICCID);
  const attempt = async (iccid: string, ...args: readonly string[]) => {
    const vendorId = id === undefined ? [] : ['--vendor-id', id];
    const card = ['--iccid', iccid, ...vendorId, '--profile', profile];
    const url = ['--gateway-url', vendor.gateway.url + path];
    const { code, stdout, stderr } = await cliHere(
      ['gateway', 'try', ...url, ...card, ...args, '-o', 'json'],
      {
        env: credentials,
      },
    );
    for (const secret of [...Object.values(credentials), ...(vendor.issued ?? [])])
      if (!SHOWN.has(secret)) expect(stdout + stderr).not.toContain(secret);
    const items = JSON.parse(stdout).items.filter(
      (one: { interface: string }) => one.interface !== 'realname',
    );
    return { code, flow: items[0], status: items[1] };
  };
  const usedBytes = (bytes: number) => {
    const card = vendor.gateway.card(ICCID);
    if (card !== undefined) card.usedBytes = bytes;
  };
  return { ...vendor, vendor, attempt, usedBytes };
}

const WITH_IDS: ReadonlyArray<Described<WithIds>> = [EMNIFY, TWILIO, HOLOGRAM];
const VENDORS: readonly Described[] = [
  ...WITH_IDS,
  {
    profile: '1nce',
    path: '/management-api',
    credentials: {
      CARDPOLL_GATEWAY_CLIENT_ID: ONCE_CREDENTIALS.clientId,
      CARDPOLL_GATEWAY_CLIENT_SECRET: ONCE_CREDENTIALS.clientSecret,
    },
    start: startOnce,
  },
  {
    profile: 'cisco-control-center',
    path: '',
    credentials: basic(CISCO_CREDENTIALS),
    start: async () => ({ gateway: await startCiscoControlCenter() }),
  },
  {
    profile: 'huawei-gsl',
    path: '',
    credentials: { CARDPOLL_GATEWAY_TOKEN: GSL_TOKEN },
    start: startHuaweiGsl,
  },
  {
    profile: 'onelink',
    path: '/v5',
    credentials: basic({ username: ONELINK_APPLICATION.appid, password: ONELINK_APPLICATION.password }),
    start: startOneLink,
  },
];

describe.each<Described<WithIds>>(firstRows(1, WITH_IDS))('$profile', (described) => {
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
  it('is stopped and brought back, once each, by hand', async () => {
    const { attempt, gateway } = await trying(described);
    for (const name of ['stop', 'start'])
      expect((await attempt(ICCID, '--interface', name, '--yes')).flow).toMatchObject({ ok: true });
    const { stops, starts, misunderstood } = gateway.stats();
    expect([stops, starts, misunderstood]).toEqual([{ [ICCID]: 1 }, { [ICCID]: 1 }, []]);
  });

  it('is tried: megabytes, and a card without usage yet', async () => {
    const { attempt, usedBytes } = await trying(described);
    expect(await attempt(ICCID)).toMatchObject({ code: 0, flow: { value: 0 }, status: { ok: true } });
    usedBytes(503_680_000);
    expect(await attempt(ICCID)).toMatchObject({
      code: 0,
      flow: { value: 503.68, warning: null },
      status: { ok: true, warning: null },
    });
  });

  it('is tried with a card that the vendor does not know', async () => {
    const { attempt, gateway } = await trying(described);
    gateway.unknown.add(ICCID);
    const { code, flow, status } = await attempt(ICCID);
    expect([code, flow.error, status.error]).toEqual([1, 'card', 'card']);
  });
});

it('hologram: reads nothing by the id of another card', async () => {
  const { attempt, usedBytes } = await trying(HOLOGRAM);
  usedBytes(777_000_000);
  const { code, flow, status } = await attempt(OTHER);
  expect(code).toBe(1);
  const reason = 'the list of the answer does not have this card';
  for (const tried of [flow, status]) expect(tried).toMatchObject({ value: null, error: 'card', reason });
});

it('twilio-super-sim: shows by the status what usage does not', async () => {
  const { attempt, vendor, usedBytes } = await trying(TWILIO);
  usedBytes(1_000_000);
  const other = await attempt(OTHER);
  expect([other.code, other.status.reason]).toEqual([1, `the answer is about another card: ${ICCID}`]);
  vendor.strictUsage = false;
  const nobody = await attempt(ICCID, '--vendor-id', 'HS00');
  expect(nobody).toMatchObject({ code: 1, flow: { value: 0 }, status: { error: 'card' } });
});

it('emnify: logs in once for a try, shows no token, and shows by the status what usage does not', async () => {
  const { attempt, vendor, usedBytes } = await trying(EMNIFY);
  usedBytes(1_000_000);
  const other = await attempt(OTHER);
  expect([other.code, other.status.reason]).toEqual([1, `the answer is about another card: ${ICCID}`]);
  expect(vendor.issued).toHaveLength(1);
});

it.each([
  ['is not a list', (vendor: EmnifyGateway) => Object.assign(vendor, { isList: false })],
  ['is an error', ({ gateway }: EmnifyGateway) => Object.assign(gateway.troubles, { instead: ERROR })],
])('emnify: takes no answer for 0 MB that %s', async (_, change) => {
  const { attempt, vendor, usedBytes } = await trying(EMNIFY);
  change(vendor);
  usedBytes(0);
  expect(await attempt(ICCID)).toMatchObject({ code: 1, flow: { value: null, error: 'malformed' } });
});
