// Reads the body of a gateway's answer: turns success, error code and value, as the profile describes them, into a value or a
// GatewayError. Used by the client, one reader for each interface. Pure: no I/O, no clock; exchange.ts judges the HTTP status.

import type {
  ErrorRules,
  GatewayConfig,
  GatewayInterface,
  PendingRule,
} from '../../domain/gateway/gateway-config.ts';
import { type ValuePath, valueAt } from '../../domain/gateway/profile-syntax.ts';
import { jsonIn } from '../../platform/json.ts';
import { GatewayError, type GatewayFailure } from '../gateway.ts';
import { type CardCheck, cardCheck, itemsByCard } from './answered-card.ts';
import { kindOfBody, NOT_JSON } from './body-kind.ts';
import { errorSignIn, isFine, isMessageOnly, type Judged } from './error-signs.ts';
import { isTakenOnly, type PendingIn, pendingIn } from './pending.ts';
import {
  type Absence,
  type AnswerValue,
  type Place,
  placeOf,
  type ReadValue,
  valuePlaces,
  valueReader,
} from './reading.ts';

/** Without a reading the call only succeeds or fails. */
type AnswerRules = Pick<GatewayConfig, 'success' | 'errors' | 'stoppedStatuses'> &
  Pick<GatewayInterface, 'reading' | 'batch' | 'find' | 'iccidValue'> &
  Partial<Pick<GatewayInterface, 'pending'>> & {
    /** Why there is no reading although the interface has a value; null: no problem. */
    readonly unread?: string | null;
  };

/** How to find a card's item in the list of an answer. */
interface ListRules {
  /** null: the answer is the list. */
  readonly items: Place | null;
  readonly iccid: Place;
  /** Name of the list in messages. */
  readonly what: string;
}

export interface BodyError {
  /** null: the profile does not list the code. */
  readonly failure: GatewayFailure | null;
  readonly reason: string;
}

export class AnswerReader {
  readonly #success: (Place & { readonly values: ReadonlySet<unknown> }) | null;
  readonly #code: Place | null;
  readonly #message: ValuePath | null;
  readonly #meanings: ReadonlyMap<string, GatewayFailure>;
  readonly #value: ReadValue | null;
  /** Place of the value, in the answer or in an item of its list; empty: the whole is the value. */
  readonly #place: ValuePath;
  readonly #judged: Judged;
  readonly #list: ListRules | null;
  readonly #isCard: CardCheck;
  readonly #unread: string | null;
  readonly #pending: PendingRule | null;
  readonly #pendingIn: PendingIn;
  /** The whole answer is a value, so it may be plain text. */
  readonly #mayBeText: boolean;
  /** The call has an effect and reads nothing: any body is fine, unless it has an error code that the profile names. */
  readonly isEffect: boolean;

  constructor(rules: AnswerRules) {
    const { success, errors, reading, stoppedStatuses, batch, find, iccidValue } = rules;
    const { unread = null, pending = null } = rules;
    this.#success = success && { ...placeOf(success.path), values: new Set(success.values) };
    this.#code = errors.path === null ? null : placeOf(errors.path);
    this.#message = errors.message === null ? null : placeOf(errors.message).path;
    this.#meanings = meaningsOf(errors);
    this.#value = reading === null ? null : valueReader(reading, stoppedStatuses);
    const list = batch ?? find;
    this.#list = list && {
      items: list.items === null ? null : placeOf(list.items),
      iccid: placeOf(list.iccid),
      what: batch === null ? 'the list of the answer' : 'the answer to the batch',
    };
    this.#place = (reading === null ? undefined : valuePlaces(reading)[0])?.path ?? [];
    this.#judged = { places: success === null ? [] : [success.path], values: success?.values ?? [] };
    this.#isCard = cardCheck(iccidValue === null ? null : placeOf(iccidValue), this.#place);
    this.#unread = unread;
    this.#pending = pending;
    this.#pendingIn = pendingIn(pending, reading);
    const said = pending === null || pending.path === null ? [] : [placeOf(pending.path)];
    const read = [this.#success, this.#code, ...said, ...(reading === null ? [] : valuePlaces(reading))];
    this.#mayBeText = list === null && read.some((place) => place?.path.length === 0);
    this.isEffect = reading === null && unread === null && list === null;
  }

  /**
   * Reads the body of a 2xx answer. Cards that were not asked for are ignored.
   * @returns the value of a card, by its ICCID; null when there is nothing to read. That function throws GatewayError `card` for
   * a card that the list of the answer lacks, and `malformed` for one without a value or there twice, or if the answer is about
   * another card.
   * @throws GatewayError when the call as a whole failed: `malformed`; by the code of the answer `backpressure`, `auth`, `card`,
   * or `business`.
   */
  read(text: string): (iccid: string) => AnswerValue | null {
    const body = this.#succeeded(text);
    if (this.#unread !== null) throw new GatewayError('malformed', this.#unread);
    if (this.#list === null) {
      return (iccid) => {
        const isNamed = this.#isCard(body, iccid);
        return this.#valueIn(body, () => this.#absence(body, body, isNamed));
      };
    }
    const { what } = this.#list;
    const itemsOf = this.#items(body, this.#list);
    return (iccid) => {
      const [item, second] = itemsOf(iccid) ?? [];
      if (item === undefined)
        throw new GatewayError('card', `${what} does not have this card`, { isUnknownCard: true });
      if (second !== undefined) throw new GatewayError('malformed', `${what} has this card twice`);
      return this.#valueIn(item, () => this.#absence(body, item, true));
    };
  }

  /** While the vendor works on the card, the value may be absent. */
  #valueIn(item: unknown, absence: () => Absence): AnswerValue | null {
    if (this.#value === null) return null;
    try {
      return this.#value(item, absence);
    } catch (error) {
      const said = this.#pendingIn(item);
      if (said === undefined) throw error;
      return String(said);
    }
  }

  /**
   * Call this after read(). @returns how long the vendor may work on a call with an effect, according to the answer for a card
   * with this value; null: the answer does not mention pending work.
   */
  pending(text: string, status: number): (iccid: string, value: AnswerValue | null) => number | null {
    const rule = this.#pending;
    if (rule === null) return () => null;
    if (this.isEffect && isTakenOnly(rule, status)) return () => rule.forMs;
    const list = this.#list;
    const body = this.#jsonOrText(text);
    const itemOf = list === null ? () => body : (iccid: string) => this.#items(body, list)(iccid)?.[0];
    const isInAnswer = (iccid: string, value: AnswerValue | null) =>
      this.#pendingIn(itemOf(iccid)) !== undefined ||
      // The value was read by a module.
      (rule.path === null && value !== null && rule.values.includes(value));
    return (iccid, value) => (isInAnswer(iccid, value) ? rule.forMs : null);
  }

  #jsonOrText(text: string): unknown {
    return jsonIn(exact(text)) ?? (this.#mayBeText ? text.trim() : null);
  }

  /** For an answer that a module read. @throws GatewayError `malformed`: it names another card. */
  requireCard(text: string, iccid: string): void {
    const body = this.#list === null ? jsonIn(exact(text)) : undefined;
    if (body !== undefined) this.#isCard(body, iccid);
  }

  #items(body: unknown, { items, iccid }: ListRules) {
    const list = items === null ? body : valueAt(body, items.path);
    if (Array.isArray(list)) return itemsByCard(list, iccid);
    const name = items?.name ?? 'the answer';
    throw new GatewayError('malformed', `${name} is ${list === undefined ? 'missing' : 'not a list'}`);
  }

  /** In an answer with an error no value counts as missing, whether or not the profile names the place of the error. */
  #absence(body: unknown, item: unknown, isNamed: boolean): Absence {
    const error = errorSignIn(body, item, this.#place, this.#judged) ?? this.#unlistedCode(body);
    if (error !== null) return { error };
    const isAboutCard = isNamed || this.#success !== null || this.#place.length === 0;
    return isAboutCard || (typeof body === 'object' && body !== null && !isMessageOnly(body))
      ? 'anywhere'
      : 'inside';
  }

  /** @returns a code at `errors.path` that the profile does not list, unless it means that there is no error. */
  #unlistedCode(body: unknown): string | null {
    if (this.#code === null || this.#judged.places.includes(this.#code.name)) return null;
    const code = valueAt(body, this.#code.path) ?? null;
    return isFine(code) ? null : `${this.#code.name}: ${JSON.stringify(code)}`;
  }

  #succeeded(text: string): unknown {
    const body = this.#parsed(text);
    this.#requireNoError(body);
    if (!this.isEffect || this.#pendingIn(body) === undefined) this.#requireSuccess(body);
    return body;
  }

  /** @returns the error code in the body of an answer outside 2xx; null: none. */
  bodyError(text: string): BodyError | null {
    if (this.#code === null) return null;
    const { name, path } = this.#code;
    const body = jsonIn(text);
    const code = valueAt(body, path) ?? null;
    if (code === null || typeof code === 'object') return null;
    return { failure: this.#meanings.get(String(code)) ?? null, reason: this.#reason(name, code, body) };
  }

  #parsed(text: string): unknown {
    if (this.isEffect) return this.#jsonOrText(text);
    try {
      return JSON.parse(exact(text));
    } catch (cause) {
      const kind = kindOfBody(text);
      if (kind === NOT_JSON && this.#mayBeText) return text.trim();
      throw new GatewayError('malformed', `the body is ${kind}`, { cause });
    }
  }

  #requireNoError(body: unknown): void {
    if (this.#code === null) return;
    const { name, path } = this.#code;
    const code = valueAt(body, path);
    const failure = this.#meanings.get(String(code));
    if (failure === undefined) return;
    throw new GatewayError(failure, this.#reason(name, code, body), { isUnknownCard: failure === 'card' });
  }

  #requireSuccess(body: unknown): void {
    if (this.#success === null) return;
    const { name, path, values } = this.#success;
    const code = valueAt(body, path);
    if (values.has(code)) return;
    const isOfItsKind = [...values].some((value) => typeof value === typeof code);
    if (!isOfItsKind || typeof code === 'object') {
      if (this.isEffect) return;
      const expected = [...new Set([...values].map((value) => typeof value))].join(' or ');
      throw new GatewayError(
        'malformed',
        `${name} is ${code === undefined ? 'missing' : `not a ${expected}`}`,
      );
    }
    throw new GatewayError('business', this.#reason(name, code, body));
  }

  #reason(name: string, code: unknown, body: unknown): string {
    const message = this.#message === null ? undefined : valueAt(body, this.#message);
    return `${name} ${code}${typeof message === 'string' && message !== '' ? `: ${message}` : ''}`;
  }
}

const LONG_NUMBER = /(?<!["\w.])\d{16}/;
const TOKENS = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g;

/** Turns long numbers into text, because JSON.parse would round a card number. */
function exact(text: string): string {
  if (!LONG_NUMBER.test(text)) return text;
  return text.replace(TOKENS, (token) => (/^\d{16,}$/.test(token) ? `"${token}"` : token));
}

function meaningsOf({ throttled, unknownCard, auth }: ErrorRules): Map<string, GatewayFailure> {
  return new Map<string, GatewayFailure>([
    ...throttled.map((code) => [code, 'backpressure'] as const),
    ...unknownCard.map((code) => [code, 'card'] as const),
    ...auth.map((code) => [code, 'auth'] as const),
  ]);
}
