// THE table of the gateway's interfaces (contract, "Gateway profile"): the calls cardpoll makes upstream. The profile of the
// gateway defines how they are made. Settings, client, simulator, statistics and log search derive their data from this table.

export const GATEWAY_METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
export type GatewayMethod = (typeof GATEWAY_METHODS)[number];

/** Signs that a log line belongs to an interface, in addition to the field of its answer (operations interface, section 1.2). */
interface Signs {
  /** One or more whole segments of a request path, `verify` or `auth/check`; case, `-` and `_` are ignored. */
  readonly paths: readonly string[];
  /** Parts of a segment, for a call with many names. */
  readonly pathParts?: readonly string[];
  readonly phrases: readonly string[];
}

interface InterfaceFacts {
  /** The content of the answer, and its name in the log; null: the call only succeeds or fails. */
  readonly answer: { readonly field: string; readonly kind: AnswerKind } | null;
  /** Additional names that a log search accepts. */
  readonly aliases: readonly string[];
  readonly signs: Signs;
}

export type AnswerKind = 'verified' | 'megabytes' | 'status';

const TABLE = {
  realname: {
    answer: { field: 'realStatus', kind: 'verified' },
    aliases: [],
    signs: { paths: [], pathParts: ['realname'], phrases: ['实名'] },
  },
  flow: {
    answer: { field: 'used', kind: 'megabytes' },
    aliases: ['carddata'],
    signs: { paths: ['flow', 'cardflow', 'carddata', 'traffic'], phrases: ['流量'] },
  },
  card_status: {
    answer: { field: 'cardStatus', kind: 'status' },
    aliases: [],
    signs: { paths: ['status', 'cardstatus'], phrases: ['卡状态'] },
  },
  stop: {
    answer: null,
    aliases: [],
    signs: { paths: ['stop', 'cardstop', 'suspend'], phrases: ['停机', '停卡'] },
  },
  start: {
    answer: null,
    aliases: ['resume'],
    signs: { paths: ['start', 'cardstart', 'resume'], phrases: ['复机', '恢复'] },
  },
} as const satisfies Readonly<Record<string, InterfaceFacts>>;

export type InterfaceName = keyof typeof TABLE;

export const INTERFACES: Readonly<Record<InterfaceName, InterfaceFacts>> = TABLE;
export const INTERFACE_NAMES = Object.keys(TABLE) as readonly InterfaceName[];
/** Every name that a log search accepts. */
export const INTERFACE_ALIASES = INTERFACE_NAMES.flatMap((name) => [name, ...INTERFACES[name].aliases]);

/** Builds a record with one entry for every interface. */
export function perInterface<T>(make: (name: InterfaceName) => T): Record<InterfaceName, T> {
  return Object.fromEntries(INTERFACE_NAMES.map((name) => [name, make(name)])) as Record<InterfaceName, T>;
}

/** Stands for the gateway as a whole, next to the interface names. */
export const WHOLE_GATEWAY = 'gateway';

/** Only task `package` calls them, for a few cards, so their breakers hold no task type back. */
export const FOLLOW_UP_INTERFACES: readonly string[] = ['stop', 'start'] satisfies InterfaceName[];

/** Whether the gateway offers an interface, by its profile. Used by all code that calls an interface or orders a call. */
export type Offers = (name: InterfaceName) => boolean;

/** Maximum number of cards in one call to an interface, by the profile of the gateway. */
export type CardsPerCall = (name: InterfaceName) => number;

export function notOfferedWords(name: InterfaceName): string {
  return `the profile of the gateway does not offer ${name}`;
}
