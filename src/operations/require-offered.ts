// Refuses what the gateway cannot do. Used by the operations that have a card polled, stopped or resumed.
import { type InterfaceName, notOfferedWords, type Offers } from '../domain/gateway-interface.ts';
import { CardpollError } from '../platform/errors.ts';

/** @throws CardpollError `conflict`. */
export function requireOffered(offers: Offers, name: InterfaceName): void {
  if (offers(name)) return;
  throw new CardpollError('conflict', 'not_offered', notOfferedWords(name), {
    hint: `if the gateway has such a call, describe it in gateway.interfaces.${name}`,
  });
}
