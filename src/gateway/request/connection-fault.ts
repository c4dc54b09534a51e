// Finds out why a connection to a server fails: a name, a route, a certificate. Looks up names for the gateway's connections,
// because an unanswered look-up otherwise shows only as a late call, and remembers when the server's certificate expires. Used by
// connections.ts, origin-pool.ts and exchange.ts.
import dns, { type LookupOptions } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { buildConnector } from 'undici';
import type { FaultKind } from '../../domain/gateway-fault.ts';
import { tlsFaultOf } from '../../platform/errors.ts';
import { ProxyError } from '../../platform/proxy/proxy-tunnel.ts';

const KINDS: Readonly<Record<string, FaultKind>> = {
  ...({ ENOTFOUND: 'name', EAI_AGAIN: 'name', EAI_NODATA: 'name', EAI_FAIL: 'name' } as const),
  ...({ EHOSTUNREACH: 'route', ENETUNREACH: 'route', EHOSTDOWN: 'route', ENETDOWN: 'route' } as const),
  ...({ ECONNREFUSED: 'refused', CERT_HAS_EXPIRED: 'expired' } as const),
};

/** @param cause error of the connection attempt. */
export function connectionKind(cause: unknown): FaultKind {
  if (cause instanceof ProxyError) return 'proxy';
  const { code } = (cause ?? {}) as NodeJS.ErrnoException;
  return KINDS[code ?? ''] ?? (tlsFaultOf(cause) === null ? 'connect' : 'certificate');
}

/** Facts learned from the connections to a server. */
export class ConnectionSight {
  readonly #waiting = new Map<object, { readonly host: string; readonly sinceMs: number }>();
  #certificateEndsMs: number | null = null;

  constructor(private readonly monotonic: () => number) {}

  /** When the certificate expires, epoch milliseconds; null: no TLS, or no connection yet. */
  get certificateEndsMs(): number | null {
    return this.#certificateEndsMs;
  }

  /** @returns a host whose name look-up has been unanswered for this long; null: none. */
  unansweredName(forMs: number): string | null {
    const now = this.monotonic();
    return [...this.#waiting.values()].find(({ sinceMs }) => now - sinceMs >= forMs)?.host ?? null;
  }

  readonly lookup: LookupFunction = (host, options, callback) => {
    const asked = {};
    if (isIP(host) === 0) this.#waiting.set(asked, { host, sinceMs: this.monotonic() });
    dns.lookup(host, options as LookupOptions, (...answer: unknown[]) => {
      this.#waiting.delete(asked);
      (callback as (...given: unknown[]) => void)(...answer);
    });
  };

  /** @returns a connector that reads the certificate of every connection. A resumed session shows none. */
  watching(connect: buildConnector.connector): buildConnector.connector {
    return (server, callback) =>
      connect(server, (...answer) => {
        const socket = answer[1] as TLSSocket | null;
        const ends = Date.parse(socket?.getPeerCertificate?.()?.valid_to ?? '');
        if (!Number.isNaN(ends)) this.#certificateEndsMs = ends;
        callback(...answer);
      });
  }
}
