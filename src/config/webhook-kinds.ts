// The kinds of value that settings about webhooks have: address ranges, and the signing secret. Used by
// alert-settings.ts.
import { type AddressRange, parseAddressRange } from '../platform/ssrf-guard.ts';
import type { Kind } from './kinds.ts';

/** An address range, `10.0.0.0/8`, or a single address. */
export function addressRange(): Kind<AddressRange> {
  const accepts = 'address range like 10.0.0.0/8, or an address';
  return {
    accepts,
    parse: (raw) => {
      const value = parseAddressRange(String(raw));
      return value === null
        ? { ok: false, problem: `${JSON.stringify(raw)} is not an ${accepts}` }
        : { ok: true, value };
    },
  };
}

const KEY_BYTES = { min: 24, max: 64 };

/** A signing secret as Standard Webhooks write it: `whsec_` and the key in base64. Never quoted in messages. */
export function webhookSecret(): Kind<string> {
  const accepts = `whsec_ and ${KEY_BYTES.min} to ${KEY_BYTES.max} bytes in base64`;
  return {
    accepts,
    parse: (raw) => {
      const value = String(raw).trim();
      const bytes = /^whsec_[A-Za-z0-9+/]+={0,2}$/.test(value)
        ? Buffer.from(value.slice('whsec_'.length), 'base64').length
        : 0;
      return bytes >= KEY_BYTES.min && bytes <= KEY_BYTES.max
        ? { ok: true, value }
        : { ok: false, problem: `must be ${accepts}` };
    },
  };
}
