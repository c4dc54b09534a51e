// THE table of the settings of a gateway's profile (docs/gateways.md): how calls are made, the meaning of their answers, the
// credentials' place. A profile is a YAML file with these keys, without the leading `gateway.`; the config file may have them
// too, and overrides it. Part of the settings table (settings.ts).
import {
  AUTH_KINDS,
  type AuthKind,
  type Code,
  type SuccessRule,
  type TokenPlace,
} from '../../domain/gateway/gateway-config.ts';
import { DATA_UNITS, type UnitWords } from '../../domain/gateway/profile-syntax.ts';
import {
  type AnswerKind,
  GATEWAY_METHODS,
  INTERFACES,
  perInterface,
} from '../../domain/gateway-interface.ts';
import { LOGIN_REQUEST, TOKEN_PLACE, TOKEN_VALUE } from '../gateway/login-kinds.ts';
import {
  BATCH_RULE,
  CODE,
  CODES,
  FIND_RULE,
  HEADERS,
  JSON_TEMPLATE,
  PATH_TEMPLATE,
  PENDING_RULE,
  SCHEME,
  SUCCESS_RULE,
  TEXT_TEMPLATE,
  templates,
  UNIT_WORDS,
  VALUE_PATH,
} from '../gateway/profile-kinds.ts';
import { duration, type Kind, listOf, ON_OFF, oneOf, text } from '../kinds.ts';
import { optional, type Section, section, withDefault } from './setting.ts';

/** The authentication of calls. The credentials themselves are in gateway-settings.ts. */
export const AUTH = section('gateway.auth.', null, {
  kind: optional<AuthKind>({
    kind: oneOf(AUTH_KINDS),
    defaultText: 'bearer if there is a token, else none',
    doc: 'How calls authenticate. If there is a signing key, calls are signed as well.',
  }),
  name: optional({
    kind: text('name of a header or query parameter'),
    doc: 'For kind header or query: where the token goes.',
  }),
  scheme: optional({
    kind: SCHEME,
    doc: 'For kind header: a word before the token, as in `Authorization: Token ...`.',
  }),
  tokenUrl: optional({
    kind: text('URL, or path below gateway.url'),
    doc: 'For kind oauth2: where tokens are issued.',
  }),
  scope: optional({
    kind: text('scope'),
    doc: 'For kind oauth2: the scope to ask for.',
  }),
  clientAuth: withDefault<'basic' | 'body'>({
    kind: oneOf(['basic', 'body'] as const),
    default: 'basic',
    doc: 'For kind oauth2: whether the client id and secret go in an Authorization header or in the body.',
  }),
  tokenRequest: withDefault<'form' | 'json'>({
    kind: oneOf(['form', 'json'] as const),
    default: 'form',
    doc: 'For kind oauth2: whether the token request is a form, as in RFC 6749, or JSON.',
  }),
  request: optional({
    kind: LOGIN_REQUEST,
    doc: 'For kind login: the request that a token is asked for with. {username}, {password}, {client_id}, {client_secret} and {token} are the credentials.',
  }),
  token: optional({
    kind: TOKEN_VALUE,
    doc: 'For kind login: where its answer has the token: a place in the body, or header:NAME or cookie:NAME.',
  }),
  expiresIn: optional({
    kind: VALUE_PATH,
    doc: 'For kind login: where its answer has how many seconds the token is good.',
  }),
  goodFor: optional({
    kind: duration('s', { min: 1, max: 86_400 }),
    doc: 'For kind login: how long a token is good, if its answer does not say so.',
  }),
  send: optional<TokenPlace>({
    kind: TOKEN_PLACE,
    defaultText: '{header: Authorization, scheme: Bearer}; of a token that comes in a cookie, that cookie',
    doc: 'For kind login: where calls have the token.',
  }),
});

/** The form of an error in the body of an answer. */
export const ERRORS = section('gateway.errors.', null, {
  path: optional({
    kind: VALUE_PATH,
    defaultText: 'the path of gateway.success',
    doc: 'Where an answer has its error code.',
  }),
  message: optional({
    kind: VALUE_PATH,
    doc: 'Where an answer has the text of an error.',
  }),
  throttled: codes('Codes that mean too many calls, as HTTP 429 does.'),
  unknownCard: codes('Codes that mean that the gateway does not know the card, as HTTP 404 does.'),
  auth: codes('Codes that mean wrong or expired credentials, as HTTP 401 does.'),
});

function codes(doc: string) {
  return optional<readonly Code[]>({ kind: CODES, doc });
}

const TEXT = text('status');

/** As text: some gateways have numbers, true and false for statuses. */
const STATUS: Kind<string> = {
  accepts: TEXT.accepts,
  parse: (raw) => TEXT.parse(typeof raw === 'boolean' ? String(raw) : raw),
};

export const ANSWERS = section('gateway.', null, {
  success: optional<SuccessRule | 'http_status'>({
    kind: SUCCESS_RULE,
    defaultText: 'set by the profile, else the HTTP status alone',
    doc: 'Which value of an answer means that the call succeeded.',
  }),
  module: optional({
    kind: text('file'),
    doc: 'JavaScript file, relative to the file that names it, with sign(request) or read(interface, response, cards) for what a profile cannot say (docs/gateway-modules.md). Runs with the rights of the daemon.',
  }),
  units: optional<UnitWords>({
    kind: UNIT_WORDS,
    doc: 'What the vendor calls units: behind a number, or at unit_value. Capitals do not count. A word that is a unit itself can only mean its form of 1,024s: {MB: MiB}.',
  }),
  stoppedStatuses: optional<readonly string[]>({
    env: 'CARDPOLL_GATEWAY_STOPPED_STATUSES',
    kind: listOf(STATUS),
    defaultText: 'set by the profile; default profile: stopped,suspended,停机',
    doc: 'Card statuses that mean the card is stopped.',
  }),
});

interface InterfaceField {
  readonly kind: Kind<NonNullable<unknown>>;
  readonly doc: string;
  /** The kinds of answer that have this field; absent: every interface has it. effect: a call that reads nothing. */
  readonly answers?: ReadonlyArray<AnswerKind | 'effect'>;
}

const ANY_ANSWER: readonly AnswerKind[] = ['verified', 'megabytes', 'status'];

const INTERFACE_FIELDS = {
  enabled: { kind: ON_OFF, doc: 'off: the gateway does not offer this; nothing calls it.' },
  method: { kind: oneOf(GATEWAY_METHODS), doc: 'HTTP method; by default POST with a body, else GET.' },
  path: {
    kind: PATH_TEMPLATE,
    doc: 'Path below gateway.url. In the config file it replaces the interface of the profile as a whole.',
  },
  query: { kind: templates('query parameters'), doc: 'Query parameters.' },
  headers: { kind: HEADERS, doc: 'Additional headers; content-type too, for a call with a body.' },
  body: { kind: JSON_TEMPLATE, doc: 'JSON body.' },
  bodyText: {
    kind: TEXT_TEMPLATE,
    doc: 'Body as text, such as XML, instead of JSON; headers.content-type says what it is.',
  },
  form: { kind: templates('form fields'), doc: 'Body as form fields, instead of JSON.' },
  timeoutMs: {
    kind: duration('ms', { min: 50, max: 120_000 }),
    doc: 'Deadline of a call; gateway.timeout_ms by default.',
  },
  value: {
    kind: VALUE_PATH,
    doc: 'Where the value is in the answer; in a batch, in each item. `.` is the whole answer, JSON or text.',
    answers: ANY_ANSWER,
  },
  unit: {
    kind: oneOf(DATA_UNITS),
    doc: 'Unit of the volume: KB is 1,000 bytes, KiB 1,024; MB by default. A unit behind the number must agree with it.',
    answers: ['megabytes'],
  },
  unitValue: {
    kind: VALUE_PATH,
    doc: 'Where the answer has the unit, instead of unit; another word than those of unit and gateway.units is an error.',
    answers: ['megabytes'],
  },
  remaining: {
    kind: VALUE_PATH,
    doc: 'Where the answer has what is left, if it does not have what was used. Needs total too.',
    answers: ['megabytes'],
  },
  total: {
    kind: VALUE_PATH,
    doc: 'Where the answer has the total; what was used is the total minus remaining.',
    answers: ['megabytes'],
  },
  trueValues: {
    kind: CODES,
    doc: 'Values that mean verified; true by default.',
    answers: ['verified'],
  },
  missingValue: {
    kind: CODE,
    doc: 'What it means that the value is absent, null, blank or `-`, such as 0 for no usage yet. By default it is an error.',
    answers: ANY_ANSWER,
  },
  iccidValue: {
    kind: VALUE_PATH,
    doc: 'Where the answer has the ICCID of its card: an answer about another card is an error. By default a field named iccid near the value.',
  },
  find: {
    kind: FIND_RULE,
    doc: 'The answer has a list, and the item with the ICCID of the card is read: value and the like are in it. items: where the list is; iccid: where an item has its ICCID.',
    answers: ANY_ANSWER,
  },
  batch: {
    kind: BATCH_RULE,
    doc: 'One call for up to size cards, with their ICCIDs for {iccids}. items: where the list is in the answer; iccid: where an item has its ICCID; join: text between ICCIDs.',
    answers: ANY_ANSWER,
  },
  pending: {
    kind: PENDING_RULE,
    doc: 'What means that the vendor still works on a stop or a start: one of values at path (of card_status by default its value); of stop and start also HTTP 202, or every success if there is no path. for: how long that may take, 10m by default. No further call is made meanwhile.',
    answers: ['effect', 'status'],
  },
} satisfies Record<string, InterfaceField>;

type Fields = typeof INTERFACE_FIELDS;

/** The settings of an interface; null: unset, or the interface does not have this setting. */
export type InterfaceValues = {
  readonly [Key in keyof Fields]: Fields[Key]['kind'] extends Kind<infer V> ? V | null : never;
};

export const NOTHING_SAID = Object.fromEntries(
  Object.keys(INTERFACE_FIELDS).map((key) => [key, null]),
) as InterfaceValues;

function settingsOf(interfaceName: string): Section {
  const declared = Object.entries(INTERFACE_FIELDS).map(([key, { kind, doc }]) => [
    key,
    optional<unknown>({ kind, doc, defaultText: 'set by the profile' }),
  ]);
  return section(`gateway.interfaces.${interfaceName}.`, null, Object.fromEntries(declared));
}

/** The settings of each interface, without those of other kinds of answer. */
export const INTERFACE_SETTINGS = perInterface((name): Section => {
  const answer = INTERFACES[name].answer?.kind ?? 'effect';
  const has = ({ answers }: InterfaceField) => answers === undefined || answers.includes(answer);
  const settings = Object.entries(settingsOf(name));
  return Object.fromEntries(settings.filter(([key]) => has(INTERFACE_FIELDS[key as keyof Fields])));
});

/** The settings of an interface as documents show them, once for all interfaces. */
export const ANY_INTERFACE = Object.values(settingsOf('<interface>'));

/** Every setting of every interface. */
export const ALL_INTERFACE_SETTINGS = Object.values(INTERFACE_SETTINGS).flatMap((settings) =>
  Object.values(settings),
);
