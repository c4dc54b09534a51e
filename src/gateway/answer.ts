// Reads the body of a gateway's answer: success, error code and value, as the profile describes them, become a value or a
// GatewayError. Used by the client, one for each interface. Pure: no I/O, no clock; exchange.ts judges the HTTP status.

import type { ErrorRules, GatewayConfig, Reading } from '../config/daemon-config.ts';
import type { BatchRule } from '../config/gateway/profile-kinds.ts';
import { megabytes, parseValuePath, type ValuePath, valueAt } from '../domain/gateway/profile-syntax.ts';
import type { AnswerKind } from '../domain/gateway-interface.ts';
import { groupBy } from '../domain/group-by.ts';
import { jsonIn } from '../platform/json.ts';
import { GatewayError, type GatewayFailure } from './gateway.ts';

const MAX_STATUS_CHARS = 64;
/** A million terabytes: a larger reading is garbage, and it would spoil the month's usage permanently. */
const MAX_USED_MB = 1e12;
/** Some gateways send numbers as text; "12.5" is read as 12.5. Signs, exponents and blanks are not. */
const DECIMAL = /^\d{1,19}(\.\d{1,9})?$/;
const SIGNED_DECIMAL = /^-?\d{1,19}(\.\d{1,9})?$/;

export type AnswerValue = boolean | number | string;

interface AnswerRules extends Pick<GatewayConfig, 'success' | 'errors' | 'stoppedStatuses'> {
  /** null: nothing is read, the call only succeeds or fails. */
  readonly reading: Reading | null;
  readonly batch: Pick<BatchRule, 'items' | 'iccid'> | null;
}

/** A place in the answer, and how messages name it. */
interface Place {
  readonly name: string;
  readonly path: ValuePath;
}

export interface ErrorSaid {
  /** null: the profile does not list the code. */
  readonly failure: GatewayFailure | null;
  readonly reason: string;
}

export class AnswerReader {
  readonly #success: (Place & { readonly values: ReadonlySet<unknown> }) | null;
  readonly #code: Place | null;
  readonly #message: ValuePath | null;
  readonly #meanings: ReadonlyMap<string, GatewayFailure>;
  readonly #value: ((body: unknown) => AnswerValue) | null;
  readonly #batch: { readonly items: Place | null; readonly iccid: Place } | null;

  constructor({ success, errors, reading, stoppedStatuses, batch }: AnswerRules) {
    this.#success = success && { ...placeOf(success.path), values: new Set(success.values) };
    this.#code = errors.path === null ? null : placeOf(errors.path);
    this.#message = errors.message === null ? null : placeOf(errors.message).path;
    this.#meanings = meaningsOf(errors);
    this.#value = reading === null ? null : readerOf(reading, stoppedStatuses);
    this.#batch = batch && {
      items: batch.items === null ? null : placeOf(batch.items),
      iccid: placeOf(batch.iccid),
    };
  }

  /**
   * Reads the body of a 2xx answer.
   * @returns the value; null when there is nothing to read.
   * @throws GatewayError `malformed`; by the code of the answer `backpressure`, `auth`, `card`, or `business`.
   */
  read(text: string): AnswerValue | null {
    if (this.#success === null && this.#code === null && this.#value === null) return null;
    const body = this.#succeeded(text);
    return this.#value === null ? null : this.#value(body);
  }

  /**
   * Reads the body of a 2xx answer to a call for many cards. Cards that were not asked for are no concern of it.
   * @returns the value of a card, by its iccid. That function throws GatewayError `card` for a card that the answer lacks,
   * and `malformed` for one without a value or with two.
   * @throws GatewayError when the call as a whole failed.
   */
  readBatch(text: string): (iccid: string) => AnswerValue | null {
    const body = this.#succeeded(text);
    const items = this.#items(body);
    const isInexact = [...items.keys()].some((key) => typeof key === 'number');
    const missing = isInexact
      ? 'has card numbers as JSON numbers, which are not exact: only a module can read them'
      : 'does not have this card';
    return (iccid) => {
      const [item, second] = items.get(iccid) ?? [];
      if (item === undefined) throw new GatewayError('card', `the answer to the batch ${missing}`);
      if (second !== undefined)
        throw new GatewayError('malformed', 'the answer to the batch has this card twice');
      return this.#value === null ? null : this.#value(item);
    };
  }

  #items(body: unknown): ReadonlyMap<unknown, readonly unknown[]> {
    const { items, iccid } = this.#batch ?? { items: null, iccid: placeOf('iccid') };
    const list = items === null ? body : valueAt(body, items.path);
    if (!Array.isArray(list)) {
      const name = items?.name ?? 'the answer';
      throw new GatewayError('malformed', `${name} is ${list === undefined ? 'missing' : 'not a list'}`);
    }
    return groupBy(list, (item) => {
      // A card number of 19 digits is not exact as a JSON number.
      const raw = valueAt(item, iccid.path);
      return Number.isSafeInteger(raw) ? String(raw) : raw;
    });
  }

  #succeeded(text: string): unknown {
    const body = this.#parsed(text);
    this.#requireNoError(body);
    this.#requireSuccess(body);
    return body;
  }

  /** @returns what the body of an answer that is no 2xx says by its error code; null: it has none. */
  errorSaid(text: string): ErrorSaid | null {
    if (this.#code === null) return null;
    const { name, path } = this.#code;
    const body = jsonIn(text);
    const code = valueAt(body, path) ?? null;
    if (code === null || typeof code === 'object') return null;
    return { failure: this.#meanings.get(String(code)) ?? null, reason: this.#reason(name, code, body) };
  }

  /** A call that only succeeds or fails may be answered without a body, unless the body is what says so. */
  #parsed(text: string): unknown {
    if (text === '' && this.#success === null && this.#value === null) return null;
    try {
      return JSON.parse(text);
    } catch (cause) {
      throw new GatewayError('malformed', `the body is ${kindOf(text)}`, { cause });
    }
  }

  #requireNoError(body: unknown): void {
    if (this.#code === null) return;
    const { name, path } = this.#code;
    const code = valueAt(body, path);
    const failure = this.#meanings.get(String(code));
    if (failure !== undefined) throw new GatewayError(failure, this.#reason(name, code, body));
  }

  #requireSuccess(body: unknown): void {
    if (this.#success === null) return;
    const { name, path, values } = this.#success;
    const code = valueAt(body, path);
    if (values.has(code)) return;
    const isOfItsKind = [...values].some((value) => typeof value === typeof code);
    if (!isOfItsKind || typeof code === 'object') {
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

/** What there is instead of JSON: a page of a proxy or to sign in, say. */
function kindOf(text: string): string {
  if (text === '') return 'empty';
  if (/^\s*<(!doctype html|html)\b/i.test(text)) return 'a page of HTML, not JSON';
  return text.startsWith('\u001f') ? 'compressed (gzip), which was not asked for' : 'not JSON';
}

function placeOf(text: string): Place {
  return { name: text, path: parseValuePath(text) ?? [] };
}

function meaningsOf({ throttled, unknownCard, auth }: ErrorRules): Map<string, GatewayFailure> {
  return new Map<string, GatewayFailure>([
    ...throttled.map((code) => [code, 'backpressure'] as const),
    ...unknownCard.map((code) => [code, 'card'] as const),
    ...auth.map((code) => [code, 'auth'] as const),
  ]);
}

function readerOf(reading: Reading, stoppedStatuses: readonly string[]): (body: unknown) => AnswerValue {
  switch (reading.kind) {
    case 'verified': {
      const { trueValues } = reading;
      const kinds = [...new Set(trueValues.map((value) => typeof value))];
      const expected = `a ${kinds.join(' or ')}`;
      return checked(reading.value, expected, (raw) =>
        kinds.some((kind) => kind === typeof raw) ? trueValues.some((value) => value === raw) : null,
      );
    }
    case 'status': {
      // A gateway that has numbers, true and false for statuses shows it by those that mean stopped.
      const isOther = (raw: unknown) =>
        (Number.isSafeInteger(raw) && stoppedStatuses.some((status) => /^\d+$/.test(status))) ||
        (typeof raw === 'boolean' && stoppedStatuses.some((status) => /^(true|false)$/.test(status)));
      return checked(reading.value, STATUS, (raw) => statusOf(isOther(raw) ? String(raw) : raw));
    }
    case 'megabytes': {
      const { value, unit } = reading;
      return checked(value, VOLUME(unit), (raw) => plausible(megabytes(numberIn(raw, DECIMAL), unit)));
    }
    case 'remainder': {
      const { unit } = reading;
      const total = checked(reading.total, VOLUME(unit), (raw) => {
        const volume = numberIn(raw, DECIMAL);
        return plausible(megabytes(volume, unit)) === null ? null : volume;
      });
      // A card that used more than its total has less than nothing left.
      const remaining = checked(reading.remaining, `a number of ${unit}`, (raw) => {
        const volume = numberIn(raw, SIGNED_DECIMAL);
        return plausible(Math.abs(megabytes(volume, unit))) === null ? null : volume;
      });
      return (body) => {
        const used = plausible(megabytes(total(body) - remaining(body), unit));
        if (used !== null) return used;
        throw new GatewayError('malformed', `${reading.remaining} is more than ${reading.total}`);
      };
    }
  }
}

const STATUS = `a text of 1 to ${MAX_STATUS_CHARS} characters`;
const VOLUME = (unit: string) => `a number of ${unit}, 0 or more`;

/** @param read null: the value is not what is expected. */
function checked<V extends AnswerValue>(
  text: string,
  expected: string,
  read: (raw: unknown) => V | null,
): (body: unknown) => V {
  const { name, path } = placeOf(text);
  return (body) => {
    const raw = valueAt(body, path);
    const value = read(raw);
    if (value !== null) return value;
    const problem = raw === undefined ? 'missing' : `not ${expected}: ${shown(raw)}`;
    throw new GatewayError('malformed', `${name} is ${problem}`);
  };
}

/** Neither cut nor escaped: a secret in it is masked where the message is used, and what is too long is cut after that. */
function shown(raw: unknown): string {
  if (typeof raw === 'object' && raw !== null) return Array.isArray(raw) ? 'a list' : 'an object';
  return typeof raw === 'string' ? `"${raw}"` : String(raw);
}

/** @returns NaN for what is no number. */
function numberIn(raw: unknown, form: RegExp): number {
  if (typeof raw === 'number') return raw;
  return typeof raw === 'string' && form.test(raw) ? Number(raw) : Number.NaN;
}

/** @returns null for a volume that no card can have used. */
function plausible(usedMb: number): number | null {
  return usedMb >= 0 && usedMb <= MAX_USED_MB ? usedMb : null;
}

/** A value that was read by other means. @throws Error that says what was expected. */
export function checkedValue(kind: AnswerKind | undefined, value: unknown): AnswerValue | null {
  const [isGood, expected] =
    kind === 'verified'
      ? [typeof value === 'boolean', 'true or false']
      : kind === 'megabytes'
        ? [typeof value === 'number' && plausible(value) !== null, VOLUME('megabytes')]
        : kind === 'status'
          ? [statusOf(value) !== null, STATUS]
          : [value === null, 'null'];
  if (isGood) return value as AnswerValue | null;
  throw new Error(`the value is not ${expected}`);
}

function statusOf(raw: unknown): string | null {
  return typeof raw === 'string' && raw.trim() !== '' && raw.length <= MAX_STATUS_CHARS ? raw : null;
}
