// Explains in words why a TLS connection failed, from Node's error. Used by the clients of the stores and of the daemon.

/** Node's error codes for certificates that it does not trust. */
const UNTRUSTED = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'CERT_SIGNATURE_FAILURE',
]);

const OUT_OF_DATE = new Set(['CERT_HAS_EXPIRED', 'CERT_NOT_YET_VALID']);

/** The server ended the connection: it requires a client certificate, or another one. */
const CLIENT_REFUSED = /^ERR_SSL_\w*ALERT_(CERTIFICATE|BAD_CERTIFICATE|UNKNOWN_CA|HANDSHAKE_FAILURE)/;

export function isUntrusted(code: string): boolean {
  return UNTRUSTED.has(code);
}

/** @returns null when the error is not about TLS */
export function tlsFaultOf(error: unknown): string | null {
  const { code } = (error ?? {}) as NodeJS.ErrnoException;
  if (typeof code !== 'string') return null;
  if (UNTRUSTED.has(code)) return 'its certificate is of no authority that is trusted here';
  if (OUT_OF_DATE.has(code)) return 'its certificate is out of date';
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return 'its certificate is for other names than it is reached by';
  return CLIENT_REFUSED.test(code)
    ? 'it asks for a client certificate and was shown none that it takes'
    : null;
}
