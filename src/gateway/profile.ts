// The gateway profile: where the upstream gateway is, which calls it offers and how its answers are read (contract,
// "Gateway profile"). Wiring builds one from the configuration; the client and the simulator read it. No I/O here.
import { z } from 'zod';
import {
  GATEWAY_METHODS,
  type GatewayMethod,
  INTERFACES,
  type InterfaceName,
  perInterface,
} from '../domain/gateway-interface.ts';
import { GATEWAY_CONNECTIONS } from '../platform/connection-bounds.ts';
import { CardpollError } from '../platform/errors.ts';

export interface GatewayInterface {
  /** GET sends the iccid as a query parameter, the others as a JSON body {"iccid": "..."}. */
  readonly method: GatewayMethod;
  /** Below the base URL; starts with a slash. */
  readonly path: string;
  /** The field of the answer's `data` that is read; null for calls that answer nothing. */
  readonly field: string | null;
}

/** The calls a gateway offers when nothing else is configured. */
export const DEFAULT_INTERFACES: Readonly<Record<InterfaceName, GatewayInterface>> = perInterface((name) => {
  const { method, path, answer } = INTERFACES[name];
  return { method, path, field: answer?.field ?? null };
});

export const GATEWAY_DEFAULTS = {
  timeoutMs: 5_000,
  successCode: 200,
  stoppedStatuses: ['stopped', 'suspended', '停机'],
  maxResponseBytes: 65_536,
  maxRetryAfterSeconds: 60,
  maxConnections: GATEWAY_CONNECTIONS.usual,
} as const;

/** What a header value may hold, so that a credential cannot smuggle in another header. */
const credential = z.string().regex(/^[\x21-\x7e]+$/, 'must be printable ASCII without blanks');

function interfaceSchema(name: InterfaceName) {
  const { method, path, field } = DEFAULT_INTERFACES[name];
  const read =
    field === null
      ? z.null('nothing is read from this call').default(null)
      : z.string().min(1).max(64).default(field);
  return z
    .strictObject({
      method: z.enum(GATEWAY_METHODS).default(method),
      path: z
        .string()
        .regex(/^\/[\x21-\x7e]*$/, 'must start with a slash and be percent-encoded')
        .default(path),
      field: read,
    })
    .prefault({});
}

function isPlainBaseUrl(text: string): boolean {
  const url = new URL(text);
  return url.search === '' && url.hash === '' && url.username === '' && url.password === '';
}

const gatewayProfileSchema = z.strictObject({
  baseUrl: z
    .url({ protocol: /^https?$/, error: 'must be an http or https URL', abort: true })
    .refine(isPlainBaseUrl, 'must have no query, fragment or credentials'),
  timeoutMs: z.int().min(1).max(120_000).default(GATEWAY_DEFAULTS.timeoutMs),
  interfaces: z.strictObject(perInterface(interfaceSchema)).prefault({}),
  /** The envelope's `code` that means success. */
  successCode: z.int().default(GATEWAY_DEFAULTS.successCode),
  /** Values of cardStatus that mean the card is stopped; compared without case. */
  stoppedStatuses: z.array(z.string().min(1)).readonly().default(GATEWAY_DEFAULTS.stoppedStatuses),
  auth: z
    .strictObject({ bearerToken: credential.optional(), hmacKey: z.string().min(1).optional() })
    .default({}),
  maxResponseBytes: z.int().min(1_024).max(16_777_216).default(GATEWAY_DEFAULTS.maxResponseBytes),
  maxRetryAfterSeconds: z.int().min(1).max(3_600).default(GATEWAY_DEFAULTS.maxRetryAfterSeconds),
  maxConnections: z
    .int()
    .min(GATEWAY_CONNECTIONS.min)
    .max(GATEWAY_CONNECTIONS.max)
    .default(GATEWAY_DEFAULTS.maxConnections),
});

export type GatewayProfile = z.output<typeof gatewayProfileSchema>;

/** What an operator may set, in the words of the configuration; what is absent takes the default. */
export interface GatewaySettings {
  readonly url: string;
  readonly timeoutMs?: number;
  readonly maxResponseBytes?: number;
  readonly maxRetryAfterSeconds?: number;
  readonly maxConnections?: number;
  readonly stoppedStatuses?: readonly string[];
  readonly token?: string;
  readonly hmacKey?: string;
  readonly interfaces?: Readonly<Partial<Record<InterfaceName, Partial<GatewayInterface>>>>;
}

/**
 * Completes the settings to a profile.
 * Throws CardpollError (config, `invalid_gateway_profile`) with one entry a wrong field.
 */
export function gatewayProfile(settings: GatewaySettings): GatewayProfile {
  const { url, token, hmacKey, ...rest } = settings;
  const parsed = gatewayProfileSchema.safeParse({
    ...rest,
    baseUrl: url,
    auth: { bearerToken: token, hmacKey },
  });
  if (parsed.success) return parsed.data;
  const fields = parsed.error.issues.map((issue) => ({
    field: issue.path.join('.'),
    message: issue.message,
  }));
  throw new CardpollError(
    'config',
    'invalid_gateway_profile',
    `gateway: ${fields.map(({ field, message }) => `${field}: ${message}`).join('; ')}`,
    { fields },
  );
}
