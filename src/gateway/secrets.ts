// Replaces the gateway's credentials in text that comes from it: a vendor may quote the token that it refuses. Used by the
// client, for what it logs and reports, and by trials. Pure.
import type { GatewayConfig } from '../config/daemon-config.ts';
import { basicAuthorization } from './request.ts';

export const MASK = '***';
/** Headers whose value is a credential, besides that of gateway.auth.name. */
export const SECRET_HEADERS = ['authorization', 'x-cardpoll-signature'];
/** A secret of fewer characters is found in places that have nothing to do with it. */
const LEAST_SECRET_CHARS = 6;
/** At the end of a text that was cut. */
const CUT = '…';

type Secrets = Pick<GatewayConfig, 'token' | 'username' | 'password' | 'clientSecret' | 'hmacKey'>;

/**
 * @param headers that a call carried: name, value, name, value.
 * @returns a function that replaces every secret of the profile, and the token that the call carried, wherever they are.
 */
export function maskFor(profile: Secrets, headers: readonly string[]): (text: string) => string {
  const { token, username, password, clientSecret, hmacKey } = profile;
  const basic = username === null || password === null ? [] : [basicAuthorization(username, password)];
  const carried = pairs(headers).flatMap(([name, value]) => (SECRET_HEADERS.includes(name) ? [value] : []));
  const secrets = [token, password, clientSecret, hmacKey, ...[...basic, ...carried].map(withoutScheme)]
    .filter((secret) => secret !== null && secret.length >= LEAST_SECRET_CHARS)
    .flatMap((secret) => [secret as string, encodeURIComponent(secret as string)]);
  return (text) =>
    secrets.reduce((masked, secret) => maskedEnd(masked.replaceAll(secret, MASK), secret), text);
}

export function pairs(headers: readonly string[]): Array<[name: string, value: string]> {
  return headers.flatMap((name, i) =>
    i % 2 === 0 ? [[name, headers[i + 1] ?? ''] as [string, string]] : [],
  );
}

const withoutScheme = (value: string): string => value.replace(/^\w+ /, '');

/** Masks the beginning of a secret at the end of a text that was cut there. */
function maskedEnd(text: string, secret: string): string {
  if (!text.endsWith(CUT)) return text;
  for (let length = secret.length - 1; length >= LEAST_SECRET_CHARS; length -= 1) {
    const beginning = secret.slice(0, length) + CUT;
    if (text.endsWith(beginning)) return text.slice(0, -beginning.length) + MASK + CUT;
  }
  return text;
}
