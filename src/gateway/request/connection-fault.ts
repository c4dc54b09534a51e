// Why no connection to a server comes about: a name, a route, a certificate. Looks up names for the connections of the gateway, because a
// lookup without an answer shows only as a call that is late, and remembers until when the certificate of the server is valid. Used by
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

/** @param cause why the connection was not made. */
export function connectionKind(cause: unknown): FaultKind {
  if (cause instanceof ProxyError) return 'proxy';
  const { code } = (cause ?? {}) as NodeJS.ErrnoException;
  return KINDS[code ?? ''] ?? (tlsFaultOf(cause) === null ? 'connect' : 'certificate');
}

/** What the connections to a server have shown. */
export class ConnectionSight {
  readonly #waiting = new Map<object, { readonly host: string; readonly sinceMs: number }>();
  #certificateEndsMs: number | null = null;

  constructor(private readonly monotonic: () => number) {}

  /** Until when the certificate is valid, epoch milliseconds; null: no TLS, or no connection yet. */
  get certificateEndsMs(): number | null {
    return this.#certificateEndsMs;
  }

  /** @returns a host whose name has been looked up for so long without an answer; null: there is none. */
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

  /** @returns a connector that looks at the certificate of every connection. A session that is resumed shows none. */
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
