// Guards against server-side request forgery: the webhook URLs of rules must not reach this machine or its private
// network. Used when such a URL is set and again when it is called.
//
// There are two checks, since each alone has a hole: a literal address in the URL is connected to without a look-up, and
// a name may resolve to another address each time. So `refusalOf` checks the URL with its literal address, and `lookup`
// resolves the name and gives the socket only checked addresses.
import { lookup } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import { CardpollError } from './errors.ts';
import { NameQueue, type Resolve } from './name-queue.ts';

/** `10.0.0.0/8`: the first `prefix` bits of the address. */
export interface AddressRange {
  readonly address: string;
  readonly prefix: number;
}

/** Ranges that IANA's special-purpose registries keep out of the public internet. */
const SPECIAL_IPV4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10', // carrier-grade NAT
  '127.0.0.0/8',
  '169.254.0.0/16', // link-local, and the metadata services of clouds
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4', // multicast
  '240.0.0.0/4', // reserved, and broadcast
];
/** All public IPv6 addresses are in this range; loopback, unique local, link-local, multicast and NAT64 are not. */
const GLOBAL_IPV6 = ['2000::/3'];
const SPECIAL_IPV6 = [
  '2001::/23', // protocol assignments, Teredo among them
  '2001:db8::/32',
  '2002::/16', // 6to4: carries an IPv4 address
  '3fff::/20',
];
const IPV4_IN_IPV6 = ['::ffff:0:0/96'];

/** One for the whole process: its threads for look-ups are few. */
const NAMES = new NameQueue(lookup);

export class SsrfGuard {
  readonly #allowed: BlockList;
  readonly #specialIpv4 = blockListOf(SPECIAL_IPV4.map(rangeOf));
  readonly #globalIpv6 = blockListOf(GLOBAL_IPV6.map(rangeOf));
  readonly #specialIpv6 = blockListOf(SPECIAL_IPV6.map(rangeOf));
  readonly #ipv4InIpv6 = blockListOf(IPV4_IN_IPV6.map(rangeOf));

  /**
   * @param allow ranges that may be called even though they are not public.
   * @param resolve looks up the addresses of a name.
   */
  constructor(
    allow: readonly AddressRange[],
    private readonly resolve: Resolve = NAMES.lookup,
  ) {
    this.#allowed = blockListOf(allow);
  }

  /** Why this URL must not be called, without a look-up; null when it may be tried. */
  refusalOf(text: string): string | null {
    // The URL parser drops white space silently.
    if (/\s|\p{Cc}/u.test(text) || !URL.canParse(text)) return 'must be a URL';
    const url = new URL(text);
    if (url.protocol !== 'http:' && url.protocol !== 'https:') return 'must start with http:// or https://';
    if (url.username !== '' || url.password !== '') return 'must not contain credentials';
    // The URL parser has already turned 2130706433, 0x7f.1 and 0177.0.0.1 into 127.0.0.1.
    const host = url.hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');
    if (/^(.+\.)?localhost$/.test(host)) {
      return this.permits('127.0.0.1') || this.permits('::1') ? null : forbidden(host);
    }
    return isIP(host) === 0 || this.permits(host) ? null : forbidden(host);
  }

  /** @param address an IPv4 or IPv6 address. */
  permits(address: string): boolean {
    if (isIP(address) === 4) {
      return this.#allowed.check(address, 'ipv4') || !this.#specialIpv4.check(address, 'ipv4');
    }
    if (isIP(address) !== 6) return false;
    const within = (list: BlockList) => list.check(address, 'ipv6');
    if (within(this.#allowed)) return true;
    if (within(this.#ipv4InIpv6)) return !within(this.#specialIpv4);
    return within(this.#globalIpv6) && !within(this.#specialIpv6);
  }

  /**
   * For a socket's `lookup` option: resolves a name, and keeps the addresses that may be called. Fails with CardpollError
   * `invalid` / `address_forbidden` when there are none.
   */
  readonly lookup: LookupFunction = (hostname, options, callback) => {
    this.resolve(hostname, { ...options, all: true }, (error, addresses) => {
      if (error !== null) {
        callback(error, '');
        return;
      }
      const permitted = addresses.filter(({ address }) => this.permits(address));
      const [first] = permitted;
      if (first === undefined)
        callback(new CardpollError('invalid', 'address_forbidden', forbidden(hostname)), '');
      else if (options.all === true) callback(null, permitted);
      else callback(null, first.address, first.family);
    });
  };
}

/** Reads `10.0.0.0/8`, `fd00::/8` or a single address; null when it is neither. */
export function parseAddressRange(text: string): AddressRange | null {
  const [address = '', bits, ...rest] = text.split('/');
  const family = isIP(address);
  const widest = family === 4 ? 32 : 128;
  const prefix = bits === undefined ? widest : /^\d{1,3}$/.test(bits) ? Number(bits) : Number.NaN;
  return family !== 0 && rest.length === 0 && prefix <= widest ? { address, prefix } : null;
}

function forbidden(host: string): string {
  return `${host} is not a public address (webhooks.allow_cidrs lets ranges through)`;
}

function rangeOf(text: string): AddressRange {
  const range = parseAddressRange(text);
  if (range === null) throw new TypeError(`${text} is not an address range`);
  return range;
}

function blockListOf(ranges: readonly AddressRange[]): BlockList {
  const list = new BlockList();
  for (const { address, prefix } of ranges) {
    list.addSubnet(address, prefix, isIP(address) === 4 ? 'ipv4' : 'ipv6');
  }
  return list;
}
