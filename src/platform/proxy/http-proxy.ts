// The HTTP proxies between this process and the gateway, token servers and webhooks, as plain data. Made by config/proxies.ts from
// the environment; proxy-for.ts decides which requests go through one.

export interface HttpProxy {
  /** `http://proxy.example:3128`, without credentials, so it may be shown. */
  readonly url: string;
  /** Value of the header Proxy-Authorization, a secret; null: the proxy needs none. */
  readonly authorization: string | null;
  /** The environment variable that names it: `HTTPS_PROXY`. */
  readonly variable: string;
}

export interface Proxies {
  /** For http:// URLs; null: none. */
  readonly http: HttpProxy | null;
  /** For https:// URLs; null: none. */
  readonly https: HttpProxy | null;
  /** The entries of NO_PROXY. */
  readonly exempt: readonly string[];
}

export const NO_PROXIES: Proxies = { http: null, https: null, exempt: [] };

/** `proxy http://proxy.example:3128 (HTTPS_PROXY)`. */
export function proxyText({ url, variable }: HttpProxy): string {
  return `proxy ${url} (${variable})`;
}

/** True when the text contains the output of proxyText: the failure may be the proxy's. */
export function namesProxy(text: string): boolean {
  return /\bproxy https?:\/\/\S+ \(https?_proxy\)/i.test(text);
}
