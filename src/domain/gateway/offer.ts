// Which interfaces the gateway offers, by its profile, and the words for one that it does not. Used by every layer that
// calls an interface, or would have it called.
import type { InterfaceName } from '../gateway-interface.ts';

export type Offers = (name: InterfaceName) => boolean;

export function notOfferedWords(name: InterfaceName): string {
  return `the profile of the gateway does not offer ${name}`;
}
