// Reads the proxies of outgoing requests from the usual variables: HTTPS_PROXY, HTTP_PROXY and NO_PROXY, or the same in lower
// case, which take precedence. Used by load-config.ts. A message never shows a value, which may contain credentials.
import type { HttpProxy, Proxies } from '../platform/proxy/http-proxy.ts';
import type { ConfigInputs, SettingReader } from './reader.ts';

type Environment = ConfigInputs['env'];

export function readProxies(reader: SettingReader, env: Environment): Proxies {
  const [, exempt = ''] = variableOf(env, 'NO_PROXY') ?? [];
  return {
    http: readProxy(reader, env, 'HTTP_PROXY'),
    https: readProxy(reader, env, 'HTTPS_PROXY'),
    exempt: exempt.split(/[\s,]+/).filter((entry) => entry !== ''),
  };
}

/** An empty variable counts as unset. */
function variableOf(env: Environment, name: string): [name: string, value: string] | null {
  const set = [name.toLowerCase(), name].find((one) => (env[one] ?? '').trim() !== '');
  return set === undefined ? null : [set, (env[set] ?? '').trim()];
}

function readProxy(reader: SettingReader, env: Environment, name: string): HttpProxy | null {
  const [variable, value] = variableOf(env, name) ?? [];
  if (variable === undefined || value === undefined) return null;
  const [scheme = ''] = /^[a-z][a-z0-9+.-]*(?=:\/\/)/i.exec(value) ?? [];
  if (!/^(https?)?$/i.test(scheme)) {
    const why = `a ${scheme}:// proxy is not supported: give an http:// or https:// proxy`;
    reader.reportBelow(variable, `${why}, or unset ${variable} for cardpoll`);
    return null;
  }
  const proxy = proxyAt(scheme === '' ? `http://${value}` : value, variable);
  if (proxy === null) reader.reportBelow(variable, 'must be the URL of a proxy: http://proxy.example:3128');
  return proxy;
}

/** @returns null when the text is not the URL of a proxy. */
function proxyAt(text: string, variable: string): HttpProxy | null {
  try {
    const { origin, username, password, pathname, search, hash } = new URL(text);
    if (/\s/.test(text) || pathname !== '/' || search !== '' || hash !== '') return null;
    const user = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
    const authorization = user === ':' ? null : `Basic ${Buffer.from(user).toString('base64')}`;
    return { url: origin, authorization, variable };
  } catch {
    return null;
  }
}
