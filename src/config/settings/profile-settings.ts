// THE table of what a gateway's profile says (docs/gateways.md): how calls are made, what their answers mean, who calls. A
// profile is a YAML file with these keys, without the leading `gateway.`; the config file may have them too, and wins.
// Part of the settings table (settings.ts).
import { DATA_UNITS, type DataUnit } from '../../domain/gateway/profile-syntax.ts';
import {
  type AnswerKind,
  GATEWAY_METHODS,
  type GatewayMethod,
  INTERFACES,
  type InterfaceName,
  perInterface,
} from '../../domain/gateway-interface.ts';
import {
  BATCH_RULE,
  type BatchRule,
  CODES,
  type Code,
  HEADERS,
  JSON_TEMPLATE,
  type JsonTemplate,
  PATH_TEMPLATE,
  SUCCESS_RULE,
  type SuccessRule,
  templates,
  VALUE_PATH,
} from '../gateway/profile-kinds.ts';
import { duration, type Kind, listOf, ON_OFF, oneOf, text } from '../kinds.ts';
import { optional, type Setting, withDefault } from './setting.ts';

const AUTH_KINDS = ['none', 'bearer', 'basic', 'header', 'query', 'oauth2', 'hmac'] as const;
export type AuthKind = (typeof AUTH_KINDS)[number];

/** How calls show who makes them. The credentials themselves are in gateway-settings.ts. */
export const AUTH = {
  kind: optional<AuthKind>({
    yaml: 'gateway.auth.kind',
    kind: oneOf(AUTH_KINDS),
    defaultText: 'bearer if there is a token, else none',
    doc: 'How calls authenticate. If there is a signing key, calls are signed as well.',
  }),
  name: optional({
    yaml: 'gateway.auth.name',
    kind: text('name of a header or query parameter'),
    doc: 'For kind header or query: where the token goes.',
  }),
  tokenUrl: optional({
    yaml: 'gateway.auth.token_url',
    kind: text('URL, or path below gateway.url'),
    doc: 'For kind oauth2: where tokens are issued.',
  }),
  scope: optional({
    yaml: 'gateway.auth.scope',
    kind: text('scope'),
    doc: 'For kind oauth2: the scope to ask for.',
  }),
  clientAuth: withDefault<'basic' | 'body'>({
    yaml: 'gateway.auth.client_auth',
    kind: oneOf(['basic', 'body'] as const),
    default: 'basic',
    doc: 'For kind oauth2: whether the client id and secret go in an Authorization header or in the body.',
  }),
  tokenRequest: withDefault<'form' | 'json'>({
    yaml: 'gateway.auth.token_request',
    kind: oneOf(['form', 'json'] as const),
    default: 'form',
    doc: 'For kind oauth2: whether the token request is a form, as in RFC 6749, or JSON.',
  }),
} as const;

/** What an error looks like in the body of an answer. */
export const ERRORS = {
  path: optional({
    yaml: 'gateway.errors.path',
    kind: VALUE_PATH,
    defaultText: 'the path of gateway.success',
    doc: 'Where an answer has its error code.',
  }),
  message: optional({
    yaml: 'gateway.errors.message',
    kind: VALUE_PATH,
    doc: 'Where an answer has the text of an error.',
  }),
  throttled: optional<readonly Code[]>({
    yaml: 'gateway.errors.throttled',
    kind: CODES,
    doc: 'Codes that mean too many calls, as HTTP 429 does.',
  }),
  unknownCard: optional<readonly Code[]>({
    yaml: 'gateway.errors.unknown_card',
    kind: CODES,
    doc: 'Codes that mean that the gateway does not know the card, as HTTP 404 does.',
  }),
  auth: optional<readonly Code[]>({
    yaml: 'gateway.errors.auth',
    kind: CODES,
    doc: 'Codes that mean wrong or expired credentials, as HTTP 401 does.',
  }),
} as const;

const TEXT = text('status');

/** As text: some gateways have numbers, true and false for statuses. */
const STATUS: Kind<string> = {
  accepts: TEXT.accepts,
  parse: (raw) => TEXT.parse(typeof raw === 'boolean' ? String(raw) : raw),
};

export const ANSWERS = {
  success: optional<SuccessRule | 'http_status'>({
    yaml: 'gateway.success',
    kind: SUCCESS_RULE,
    defaultText: 'set by the profile, else the HTTP status alone',
    doc: 'Which value of an answer means that the call succeeded.',
  }),
  module: optional({
    yaml: 'gateway.module',
    kind: text('file'),
    doc: 'JavaScript file, relative to the file that names it, with sign(request) or read(interface, response, cards) for what a profile cannot say (docs/gateways.md). Runs with the rights of the daemon.',
  }),
  stoppedStatuses: optional<readonly string[]>({
    env: 'CARDPOLL_GATEWAY_STOPPED_STATUSES',
    yaml: 'gateway.stopped_statuses',
    kind: listOf(STATUS),
    defaultText: 'set by the profile; default profile: stopped,suspended,停机',
    doc: 'Card statuses that mean the card is stopped.',
  }),
} as const;

/** What is said about an interface; null: nothing. */
export interface InterfaceValues {
  readonly enabled: boolean | null;
  readonly method: GatewayMethod | null;
  readonly path: string | null;
  readonly query: Readonly<Record<string, string>> | null;
  readonly headers: Readonly<Record<string, string>> | null;
  readonly body: JsonTemplate | null;
  readonly form: Readonly<Record<string, string>> | null;
  readonly timeoutMs: number | null;
  readonly value: string | null;
  readonly field: string | null;
  readonly unit: DataUnit | null;
  readonly remaining: string | null;
  readonly total: string | null;
  readonly trueValues: readonly Code[] | null;
  readonly batch: BatchRule | null;
}

type InterfaceKey = keyof InterfaceValues;

interface InterfaceField<V> {
  readonly yaml: string;
  readonly kind: Kind<V>;
  readonly doc: string;
  /** The kinds of answer that have this field; absent: every interface has it. */
  readonly answers?: readonly AnswerKind[];
}

const ANY_ANSWER: readonly AnswerKind[] = ['verified', 'megabytes', 'status'];

const INTERFACE_FIELDS: {
  readonly [K in InterfaceKey]: InterfaceField<NonNullable<InterfaceValues[K]>>;
} = {
  enabled: { yaml: 'enabled', kind: ON_OFF, doc: 'off: the gateway does not offer this; nothing calls it.' },
  method: { yaml: 'method', kind: oneOf(GATEWAY_METHODS), doc: 'HTTP method; GET by default.' },
  path: {
    yaml: 'path',
    kind: PATH_TEMPLATE,
    doc: 'Path below gateway.url. In the config file it replaces the interface of the profile as a whole.',
  },
  query: { yaml: 'query', kind: templates('query parameters'), doc: 'Query parameters.' },
  headers: { yaml: 'headers', kind: HEADERS, doc: 'Additional headers.' },
  body: { yaml: 'body', kind: JSON_TEMPLATE, doc: 'JSON body.' },
  form: { yaml: 'form', kind: templates('form fields'), doc: 'Body as form fields, instead of JSON.' },
  timeoutMs: {
    yaml: 'timeout_ms',
    kind: duration('ms', { min: 50, max: 120_000 }),
    doc: 'Deadline of a call; gateway.timeout_ms by default.',
  },
  value: {
    yaml: 'value',
    kind: VALUE_PATH,
    doc: 'Where the value is in the answer; in a batch, in each item.',
    answers: ANY_ANSWER,
  },
  field: {
    yaml: 'field',
    kind: text('field name'),
    doc: 'Short form of value: data.FIELD.',
    answers: ANY_ANSWER,
  },
  unit: {
    yaml: 'unit',
    kind: oneOf(DATA_UNITS),
    doc: 'Unit of the volume: KB is 1,000 bytes, KiB 1,024; MB by default.',
    answers: ['megabytes'],
  },
  remaining: {
    yaml: 'remaining',
    kind: VALUE_PATH,
    doc: 'Where the answer has what is left, if it does not have what was used. Needs total too.',
    answers: ['megabytes'],
  },
  total: {
    yaml: 'total',
    kind: VALUE_PATH,
    doc: 'Where the answer has the total; what was used is the total minus remaining.',
    answers: ['megabytes'],
  },
  trueValues: {
    yaml: 'true_values',
    kind: CODES,
    doc: 'Values that mean verified; true by default.',
    answers: ['verified'],
  },
  batch: {
    yaml: 'batch',
    kind: BATCH_RULE,
    doc: 'One call for up to size cards, with their ICCIDs for {iccids}. items: where the list is in the answer; iccid: where an item has its ICCID; join: text between ICCIDs.',
    answers: ANY_ANSWER,
  },
};

type InterfaceSettings = { readonly [K in InterfaceKey]: Setting<InterfaceValues[K]> | null };

export const INTERFACE_SETTINGS: Readonly<Record<InterfaceName, InterfaceSettings>> = perInterface((name) => {
  const answer = INTERFACES[name].answer?.kind ?? null;
  const entries = Object.entries(INTERFACE_FIELDS).map(([key, field]) => {
    const { yaml, kind, doc, answers } = field as InterfaceField<NonNullable<unknown>>;
    const has = answers === undefined || (answer !== null && answers.includes(answer));
    const setting = optional<NonNullable<unknown>>({
      yaml: `gateway.interfaces.${name}.${yaml}`,
      kind,
      defaultText: 'set by the profile',
      doc,
    });
    return [key, has ? setting : null];
  });
  return Object.fromEntries(entries) as InterfaceSettings;
});

/** The settings of an interface as documents show them, once for all interfaces. */
export const ANY_INTERFACE: readonly Setting<unknown>[] = Object.values(INTERFACE_FIELDS).map((field) => {
  const { yaml, kind, doc } = field as InterfaceField<NonNullable<unknown>>;
  const setting = { yaml: `gateway.interfaces.<interface>.${yaml}`, kind, doc };
  return optional({ ...setting, defaultText: 'set by the profile' });
});

/** Every setting of every interface. */
export const ALL_INTERFACE_SETTINGS: readonly Setting<unknown>[] = Object.values(INTERFACE_SETTINGS).flatMap(
  (settings) => Object.values(settings).filter((setting) => setting !== null),
);
