// The names that `--interface` takes, and the signs of one's own by which a line belongs to an interface (operations
// interface, section 1.2). Read by query.ts and by interface-rules.ts, which looks for the signs.
import {
  INTERFACE_ALIASES,
  INTERFACE_NAMES,
  INTERFACES,
  type InterfaceName,
} from '../../domain/gateway-interface.ts';
import { CardpollError } from '../../platform/errors.ts';

/** @throws CardpollError `usage` / `unknown_interface`. */
export function interfaceOf(alias: string): InterfaceName {
  const found = INTERFACE_NAMES.find((name) => name === alias || INTERFACES[name].aliases.includes(alias));
  if (found !== undefined) return found;
  throw new CardpollError('usage', 'unknown_interface', `'${alias}' is not an interface`, {
    hint: `type one of ${INTERFACE_ALIASES.join(', ')}`,
  });
}

/** Signs of somebody's own, besides those of the table. */
interface OwnSignsOfOne {
  readonly paths: readonly string[];
  /** Of the answer, in JSON, logfmt or other `key=value` text. */
  readonly fields: readonly string[];
  readonly phrases: readonly string[];
}

export type OwnSigns = Readonly<Partial<Record<InterfaceName, Partial<OwnSignsOfOne>>>>;
