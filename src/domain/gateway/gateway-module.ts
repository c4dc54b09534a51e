// The interface of an operator's module for calls to the gateway that no profile can describe (docs/gateway-modules.md prints
// these types): it signs a request, and reads an answer. Both functions must return at once: a promise is an error.

export interface GatewayModule {
  /** Called for every request. @returns what to add to it. */
  sign?(request: UnsignedRequest): Signature;
  /** Called for every answer with a 2xx status. @returns one reading for each card, in their order; undefined: the profile reads it, errors too. */
  read?(
    interfaceName: ModuleInterface,
    response: GatewayResponse,
    cards: readonly AskedCard[],
  ): readonly CardReading[] | undefined;
}

type ModuleInterface = 'realname' | 'flow' | 'card_status' | 'stop' | 'start';

interface UnsignedRequest {
  readonly interface: ModuleInterface;
  readonly method: string;
  /** As sent, without the query. */
  readonly path: string;
  /** Names and values, without encoding. */
  readonly query: Readonly<Record<string, string>>;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  /** CARDPOLL_GATEWAY_HMAC_KEY; null if it is not set. No other secret is passed: credentials are added afterwards. */
  readonly key: string | null;
  /** The present time, in milliseconds since 1970. */
  readonly now: number;
}

interface Signature {
  /** Parameters to add to the query. */
  readonly query?: Readonly<Record<string, string>>;
  /** Headers to add; each replaces one of the same name. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The new body of a request that has one. */
  readonly body?: string;
}

export interface GatewayResponse {
  readonly status: number;
  readonly body: string;
}

interface AskedCard {
  readonly iccid: string;
  readonly card_id: number;
  readonly carrier_id: number;
}

type CardReading =
  /** realname: true or false; flow: megabytes of 1,000,000 bytes; card_status: the status; stop and start: null. */
  | {
      readonly value: boolean | number | string | null;
      /** The card's number as the answer has it. A reading of another card is refused; in a batch, so is one without it. */
      readonly iccid?: string;
    }
  /** `throttled` and `auth` concern the whole call, the others this card. */
  | { readonly error: 'unknown_card' | 'throttled' | 'auth' | 'failed'; readonly reason?: string };
