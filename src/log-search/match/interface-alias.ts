// The interface aliases of `--interface` (operations interface, section 1.2): which lines belong to which interface.
// Works on a line's bytes as a latin1 string, so that UTF-8 and GBK need no decoding. Only asked about lines that hold
// the card.
import { CardpollError } from '../../platform/errors.ts';
import { containsPhrase, type Phrase, phrase } from './phrase.ts';

/** One name an interface; `--interface` also takes the other names of NAMES. */
export type InterfaceName = 'realname' | 'flow' | 'card_status' | 'stop' | 'start';

export const INTERFACES: readonly InterfaceName[] = ['realname', 'flow', 'card_status', 'stop', 'start'];

const NAMES = {
  realname: 'realname',
  flow: 'flow',
  carddata: 'flow',
  card_status: 'card_status',
  stop: 'stop',
  start: 'start',
  resume: 'start',
} as const satisfies Readonly<Record<string, InterfaceName>>;

export type InterfaceAlias = keyof typeof NAMES;

export const ALIASES: readonly string[] = Object.keys(NAMES);

/** @throws CardpollError `usage` / `unknown_interface`. */
export function interfaceOf(alias: string): InterfaceName {
  if (Object.hasOwn(NAMES, alias)) return NAMES[alias as InterfaceAlias];
  throw new CardpollError('usage', 'unknown_interface', `'${alias}' is not an interface`, {
    hint: `type one of ${ALIASES.join(', ')}`,
  });
}

const QUOTE = String.raw`(?:"|\\+u0022)`;
const CLOSING = String.raw`(?:\\*"|\\+u0022)`;

interface Rule {
  readonly segment: (normalized: string) => boolean;
  readonly field: RegExp | null;
  readonly phrases: readonly Phrase[];
}

const isOneOf = (...segments: string[]) => {
  const set = new Set(segments);
  return (normalized: string) => set.has(normalized);
};

const RULES: Readonly<Record<InterfaceName, Rule>> = {
  realname: {
    segment: (normalized) => normalized.includes('realname'),
    field: fieldPattern('realStatus'),
    phrases: [phrase('实名', 'cab5c3fb')],
  },
  flow: {
    segment: isOneOf('flow', 'cardflow', 'carddata', 'traffic'),
    field: fieldPattern('used'),
    phrases: [phrase('流量', 'c1f7c1bf')],
  },
  card_status: {
    segment: isOneOf('status', 'cardstatus'),
    field: fieldPattern('cardStatus'),
    phrases: [phrase('卡状态', 'bfa8d7b4ccac')],
  },
  stop: {
    segment: isOneOf('stop', 'cardstop', 'suspend'),
    field: null,
    phrases: [phrase('停机', 'cda3bbfa'), phrase('停卡', 'cda3bfa8')],
  },
  start: {
    segment: isOneOf('start', 'cardstart', 'resume'),
    field: null,
    phrases: [phrase('复机', 'b8b4bbfa'), phrase('恢复', 'bbd6b8b4')],
  },
};

/** Which of the `wanted` interfaces a line, as latin1, belongs to; with `strict` only its request path counts. */
export function interfacesOf(
  line: string,
  wanted: readonly InterfaceName[],
  strict: boolean,
): InterfaceName[] {
  const segments = lastSegments(line);
  return wanted.filter((name) => {
    const { segment, field, phrases } = RULES[name];
    if (segments.some(segment)) return true;
    return !strict && (field?.test(line) || phrases.some((one) => containsPhrase(line, one)));
  });
}

/** A JSON key, plain or escaped inside a string any number of times. */
function fieldPattern(name: string): RegExp {
  return new RegExp(String.raw`${QUOTE}${name}${CLOSING}\s*:`);
}

// A path of a field path, uri or url (JSON or logfmt), and of a request line as access logs have it.
const PATH_FIELD = new RegExp(
  String.raw`${QUOTE}(?:path|uri|url)${CLOSING}\s*:\s*(?:\\*"|\\+u0022)((?:[^"\\\s]|\\+/)+)`,
  'g',
);
const PATH_PAIR = /(?<![\w.-])(?:path|uri|url)="?([^"\\\s]+)/g;
const REQUEST_LINE = /(?<![\w])(?:GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS) ((?:\/|https?:\/\/)[^"\\\s]*)/g;

function lastSegments(line: string): string[] {
  const segments: string[] = [];
  for (const pattern of [PATH_FIELD, PATH_PAIR, REQUEST_LINE]) {
    for (const match of line.matchAll(pattern)) segments.push(lastSegment(match[1] ?? ''));
  }
  return segments;
}

function lastSegment(path: string): string {
  const bare = path
    .replaceAll('\\', '')
    .replace(/[?#;].*$/s, '')
    .replace(/^[a-z][a-z\d+.-]*:\/\/[^/]*/i, '')
    .replace(/\/+$/, '');
  return bare
    .slice(bare.lastIndexOf('/') + 1)
    .toLowerCase()
    .replace(/[-_]/g, '');
}
