// The interfaces and their aliases (operations interface, section 1.2), and the signs by which a line belongs to each.
// Read by query.ts for `--interface` and by interface-rules.ts, which looks for the signs.
import { CardpollError } from '../../platform/errors.ts';

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

/** @throws CardpollError `usage` / `unknown_interface`. */
export function interfaceOf(alias: string): InterfaceName {
  if (Object.hasOwn(NAMES, alias)) return NAMES[alias as InterfaceAlias];
  throw new CardpollError('usage', 'unknown_interface', `'${alias}' is not an interface`, {
    hint: `type one of ${Object.keys(NAMES).join(', ')}`,
  });
}

/** By what a line belongs to an interface. */
interface Signs {
  /** One or more whole segments of a request path, `verify` or `auth/check`; case, `-` and `_` do not matter. */
  readonly paths: readonly string[];
  /** Of the answer, in JSON, logfmt or other `key=value` text. */
  readonly fields: readonly string[];
  readonly phrases: readonly string[];
}

/** Signs of somebody's own, besides those of the table. */
export type OwnSigns = Readonly<Partial<Record<InterfaceName, Partial<Signs>>>>;

/** The names of the real-name call vary so much that a part of a segment does. */
export const REALNAME_PART = 'realname';

export const SIGNS: Readonly<Record<InterfaceName, Signs>> = {
  realname: { paths: [], fields: ['realStatus'], phrases: ['实名'] },
  flow: { paths: ['flow', 'cardflow', 'carddata', 'traffic'], fields: ['used'], phrases: ['流量'] },
  card_status: { paths: ['status', 'cardstatus'], fields: ['cardStatus'], phrases: ['卡状态'] },
  stop: { paths: ['stop', 'cardstop', 'suspend'], fields: [], phrases: ['停机', '停卡'] },
  start: { paths: ['start', 'cardstart', 'resume'], fields: [], phrases: ['复机', '恢复'] },
};
