// Finds signs of an error that the profile does not name: `success: false`, a non-empty `error`, a code that does not mean
// success. The value of such an answer does not count as "missing". Used by answer.ts. Pure.
import { type ValuePath, valueAt } from '../../domain/gateway/profile-syntax.ts';
import { isObject } from '../../platform/json.ts';

/** What the profile knows about success; its own rules have already judged these places. */
export interface Judged {
  /** Places of success and of the error code, as the profile writes them. */
  readonly places: readonly string[];
  /** Codes of success, in addition to the universal ones. */
  readonly values: readonly unknown[];
}

type Holder = readonly [where: string, fields: Readonly<Record<string, unknown>>];

/** Names are compared in lower case, without `_`, `-` and blanks. */
const OUTCOME = /^(is)?(ok|succ|success|succeeded|successful)$/;
const FAULT =
  /^(is|has)?(err|errs|error|errors|fault|faults|exception|exceptions|fail|failed|failure|failures)(no|num|code|type|object)?$/;
const FAULT_TEXT =
  /^(err|error|fault|exception|fail|failure)(msg|message|text|desc|description|details?|info|reason)$/;
const CODE = /^(biz|business|result|return|rtn|ret|res|resp|response|status|httpstatus|sub)code$/;
/** An item or an object of data may have a code of its own. */
const BARE_CODE = /^(code|ret|rc)$/;
const STATE = /^(status|state|result|outcome|httpstatus)$/;
const MESSAGE = /^(message|msg|reason|detail|details|description|title|hint|info)$/;
/** Names of objects that hold the code and the message of an answer. */
const ENVELOPE = /^(status|state|meta|head|header|response|resp|rsp|result|return|envelope)$/;

const FINE_WORD =
  /^(0+|2\d\d|ok|okay|success|successful|successfully|succeeded|succ|true|false|none|null|no|n|-|no[ _-]?errors?|normal|done|completed?|yes|y|成功|正常|(操作|请求|查询|处理)成功)[.!。！]?$/i;
const ERROR_WORD =
  /^([45]\d\d|err|error|fail|failed|failure|fault|exception|invalid|denied|unauthori[sz]ed|forbidden|unavailable|timeout|nok|ko|失败|错误|异常)$/i;

/**
 * @param item the object that has the value: the answer itself, or an item of its list. @param path of the value in it.
 * @returns the sign with its place, such as `success: false`; null: none.
 */
export function errorSignIn(answer: unknown, item: unknown, path: ValuePath, judged: Judged): string | null {
  const top: Holder[] = isObject(answer) ? [['', answer]] : [];
  const envelopes = top.flatMap(([, fields]) => envelopesOf(fields));
  const own: Holder[] = item !== answer && isObject(item) ? [['', item]] : [];
  const around = path.flatMap((_, depth): Holder[] => {
    const holder = depth === 0 ? undefined : valueAt(item, path.slice(0, depth));
    return isObject(holder) ? [[placeText(path.slice(0, depth)), holder]] : [];
  });
  return signIn([...top, ...envelopes, ...own], true, judged) ?? signIn(around, false, judged);
}

/** True when an answer has a message and no sign of success: it may describe an error. */
export function isMessageOnly(answer: unknown): boolean {
  if (!isObject(answer)) return false;
  const holders = [answer, ...envelopesOf(answer).map(([, held]) => held)];
  const isMessage = (value: unknown) => typeof value === 'string' && !isFine(value);
  return !holders.some(saysSuccess) && holders.some((fields) => has(fields, MESSAGE, isMessage));
}

function saysSuccess(fields: Holder[1]): boolean {
  const isSuccess = (value: unknown) => value !== false && !isEmpty(value) && isFine(value);
  return [OUTCOME, CODE, BARE_CODE, STATE, FAULT].some((names) => has(fields, names, isSuccess));
}

function has(fields: Holder[1], names: RegExp, isIt: (value: unknown) => boolean): boolean {
  return Object.entries(fields).some(([name, value]) => names.test(plain(name)) && isIt(value));
}

function envelopesOf(answer: Readonly<Record<string, unknown>>): Holder[] {
  return Object.entries(answer).flatMap(([name, value]): Holder[] =>
    ENVELOPE.test(plain(name)) && isObject(value) ? [[name, value]] : [],
  );
}

function signIn(holders: readonly Holder[], hasCode: boolean, { places, values }: Judged): string | null {
  for (const [where, fields] of holders) {
    for (const [key, value] of Object.entries(fields)) {
      const place = where === '' ? key : `${where}.${key}`;
      if (places.includes(place)) continue;
      const isText = FAULT_TEXT.test(plain(key));
      if (isText ? !isFine(value) && !saysSuccess(fields) : isSign(plain(key), value, hasCode, values))
        return `${place}: ${JSON.stringify(value)}`;
    }
  }
  return null;
}

function isSign(name: string, value: unknown, hasCode: boolean, fine: Judged['values']): boolean {
  if (OUTCOME.test(name)) return isFailedOutcome(value);
  if (FAULT.test(name)) return value === true || !isFine(value);
  const isScalar = typeof value !== 'object';
  if (CODE.test(name) || (hasCode && BARE_CODE.test(name)))
    return isScalar && !isFine(value) && !fine.includes(value);
  const mayBeState = STATE.test(name) || BARE_CODE.test(name);
  return mayBeState && isScalar && ERROR_WORD.test(String(value).trim());
}

/** Empty values and `false` report no error: `error: null`, `errors: []`, `code: 0`, `has_error: false`. */
export function isFine(value: unknown): boolean {
  return isEmpty(value) || FINE_WORD.test(String(value).trim());
}

function isEmpty(value: unknown): boolean {
  if (value === null || value === undefined) return true;
  if (typeof value === 'object') return Object.keys(value).length === 0;
  return typeof value === 'string' && value.trim() === '';
}

function isFailedOutcome(value: unknown): boolean {
  return (
    value === false ||
    value === 0 ||
    (typeof value === 'string' && /^(false|0|no?|f|fail(ed)?|error)$/i.test(value.trim()))
  );
}

function plain(name: string): string {
  return name.toLowerCase().replace(/[_\s-]/g, '');
}

function placeText(path: ValuePath): string {
  return path
    .map((step, i) => (typeof step === 'number' ? `[${step}]` : i === 0 ? step : `.${step}`))
    .join('');
}
