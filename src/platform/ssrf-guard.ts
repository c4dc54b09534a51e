// Guards against server-side request forgery: the webhook URLs of rules must not reach this machine or its private network. Used
// when such a URL is set and again when it is called.
//
// With a proxy, names are also resolved here, and the proxy gets the checked address. Only if every address is allowed does it
// get the name.
//
// There are two checks, since each alone has a hole: a literal address in the URL is connected to without a look-up, and a name
// may resolve to another address each time. So `refusalOf` checks the URL with its literal address, and `lookup` resolves the
// name and gives the socket only checked addresses.
import { type LookupAddress, lookup } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import { type AddressRange, serverIn } from './addresses.ts';
import { CardpollError, messageOf } from './errors.ts';
import { NameQueue, type Resolve } from './name-queue.ts';
import { type HttpProxy, type Proxies, proxyText } from './proxy/http-proxy.ts';

/** All public addresses are in these ranges. IPv4 addresses within IPv6 (::ffff:0:0/96) count as IPv4. */
const GLOBAL = new BlockList();
GLOBAL.addSubnet('0.0.0.0', 0, 'ipv4');
GLOBAL.addSubnet('2000::', 3, 'ipv6');

/** One queue for the whole process, because its look-up threads are few. */
const NAMES = new NameQueue(lookup);

export class SsrfGuard {
  readonly #allowed = new BlockList();
  /** Every address is allowed. */
  readonly #allowsAll: boolean;

  /**
   * @param allow ranges that may be called even though they are not public.
   * @param proxies between this process and the receivers. Their own addresses are the operator's choice, and are not checked.
   * @param resolve looks up the addresses of a name.
   */
  constructor(
    allow: readonly AddressRange[],
    readonly proxies: Proxies,
    private readonly resolve: Resolve = NAMES.lookup,
  ) {
    for (const { address, prefix } of allow) this.#allowed.addSubnet(address, prefix, familyOf(address));
    const families = allow.filter(({ prefix }) => prefix === 0).map(({ address }) => familyOf(address));
    this.#allowsAll = new Set(families).size === 2;
  }

  /** Why this URL must not be called, without a look-up; null: it may be tried. */
  refusalOf(text: string): string | null {
    // The URL parser drops white space silently.
    if (/\s|\p{Cc}/u.test(text) || !URL.canParse(text)) return 'must be a URL';
    const url = new URL(text);
    if (url.protocol !== 'http:' && url.protocol !== 'https:') return 'must start with http:// or https://';
    if (url.username !== '' || url.password !== '') return 'must not contain credentials';
    // The URL parser has already turned 2130706433, 0x7f.1 and 0177.0.0.1 into 127.0.0.1.
    const host = serverIn(url).host.replace(/\.$/, '');
    if (/^(.+\.)?localhost$/.test(host)) {
      return this.permits('127.0.0.1') || this.permits('::1') ? null : forbidden(host);
    }
    return isIP(host) === 0 || this.permits(host) ? null : forbidden(host);
  }

  /** @param address an IPv4 or IPv6 address. */
  permits(address: string): boolean {
    if (isIP(address) === 0) return false;
    if (this.#allowed.check(address, familyOf(address))) return true;
    return GLOBAL.check(address, familyOf(address)) && ipaddr.process(address).range() === 'unicast';
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

  /**
   * The targets for a proxy, the best first: the permitted addresses of the host, so that the proxy looks up no name. Only if
   * every address is allowed, it is the host itself.
   * @param host of a URL that `refusalOf` lets through, without brackets.
   * @throws CardpollError `address_forbidden`; Error when the name cannot be resolved here.
   */
  async addressesBehind(proxy: HttpProxy, host: string, signal: AbortSignal): Promise<string[]> {
    if (this.#allowsAll || isIP(host) !== 0) return [host];
    return new Promise((resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
      this.lookup(host, { all: true }, (error, addresses) => {
        if (error instanceof CardpollError) reject(error);
        else if (error !== null) reject(new Error(unresolvedText(host, error, proxy)));
        else resolve(preferred(addresses as LookupAddress[]));
      });
    });
  }
}

function forbidden(host: string): string {
  return `${host} is not a public address (webhooks.allow_cidrs lets ranges through)`;
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 4 ? 'ipv4' : 'ipv6';
}

/** Prefers IPv4, which more proxies reach. */
function preferred(addresses: readonly LookupAddress[]): string[] {
  return addresses.toSorted((a, b) => a.family - b.family).map(({ address }) => address);
}

function unresolvedText(host: string, error: Error, proxy: HttpProxy): string {
  const why = `its address is checked before ${proxyText(proxy)} may connect to it`;
  return `${host} cannot be resolved here (${messageOf(error)}): ${why}. Let this machine resolve it; docs/security.md has the other ways`;
}
