// Kinds of value for settings: address ranges and webhook signing secrets. Used by alert-settings.ts and
// api-settings.ts.
import { WEBHOOK_SECRET_FORM, webhookSecretsIn } from '../domain/alerts/webhook-secret.ts';
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

/** Signing secrets: one, or two separated by a comma, the newest first. Never quoted in messages. */
export function webhookSecrets(): Kind<readonly string[]> {
  return {
    accepts: WEBHOOK_SECRET_FORM,
    parse: (raw) => {
      const value = webhookSecretsIn(String(raw).trim());
      return value === null ? { ok: false, problem: `must be ${WEBHOOK_SECRET_FORM}` } : { ok: true, value };
    },
  };
}
