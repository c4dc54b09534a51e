// Finds a refusal in an answer with status 2xx of unknown form. Receivers also answer 200 with a sign-in page, with an error in
// JSON, or with a word such as `no_team`. Pure. Used by webhook-attempt.ts, for webhooks and for the heartbeat.
//
// In doubt the message counts as accepted, because a retry would show it twice.
import { isObject, jsonIn } from '../../platform/json.ts';

export interface Refusal {
  /** The receiver's own words. */
  readonly error: string;
  /** True when a retry would be refused in the same way. */
  readonly lasting: boolean;
}

const MAX_WORDS = 200;
const MAX_ITEMS = 20;

const PAGE =
  /^\s*(?:<\?xml[^>]*>\s*)?(?:<!--(?:(?!-->)[\s\S])*-->\s*)*<(?:!doctype\s+html|html|head|body)\b/i;
const TITLE = /<title[^>]*>([^<]{1,100})/i;
const XML_FAULT =
  /<(?:\w+:)?(?:error|fault|exception)\b(?!\s*\/?>\s*(?:0|false|none)?\s*<\/)|<(?:ok|success)>\s*(?:0|false)|<(?:status|result)>\s*(?:error|fail)/i;

/** How a refusing text or state begins: Microsoft Teams, Slack's words and most HTTP services. */
const SAYS_FAILED = new RegExp(
  `^\\W*(?:webhook message delivery )?(?:${[
    'error|err|fail(?:ed|ure|s)?|fatal|fault|exception|invalid|malformed|expired|missing|unknown|nok|ko',
    'unauthori[sz]ed|unauthenticated|forbidden|den(?:ied|y)|reject(?:ed)?|refused|disabled|blocked|unavailable|timeout',
    '(?:access|permission|authentication|authorization)[ _](?:denied|failed|required)|bad[ _](?:request|gateway|token|auth\\w*)',
    'internal (?:server )?error|service[ _]unavailable|too[ _]many|rate[ _-]?limit\\w*|quota[ _]exceeded|payload too large',
    'not[ _](?:found|allowed|authori[sz]ed|authed|authenticated|implemented|acceptable|in_channel|permitted|delivered|sent)|no such',
    'no_(?!error|content)[a-z_]+|[a-z]+(?:_[a-z]+)*_(?:not_found|denied|disabled|archived|prohibited|error|failed|exceeded|required|expired|invalid)',
  ].join('|')})(?![a-z])`,
  'i',
);
const SAYS_DONE = /^\W*(?:(?:ok|success)\b|成功)/i;
const SAYS_TAKEN = /^\W*(?:(?:ok|success|no[ _]?errors?)\b|成功)|^(?:none|null|false|no)\W*$/i;
/** healthchecks.io answers 200 `OK (not found)` and `OK (rate limited)` to a heartbeat that it does not count. */
const SAYS_IGNORED = /^OK \((.{1,50})\)\s*$/;

/** Names of success flags, in lower case, without dashes and underscores. */
const FLAGS = ['ok', 'success', 'succeeded', 'successful', 'issuccess', 'issuccessful', 'accepted'];
const FAULTS = ['error', 'errors', 'err', 'fault', 'exception', 'errormessage'];
const ERROR_CODES = ['errcode', 'errorcode', 'errno', 'ret', 'retcode', 'returncode', 'statuscode'];
const CODES = ['code', 'status'];
const STATES = ['status', 'result', 'state', 'outcome', 'code'];
/** Names of the fields in which receivers wrap their answer. */
const WRAPPERS = ['data', 'result', 'response', 'status', 'meta', 'header', 'body'];
const WORDS = ['errmsg', 'msg', 'message', 'description', 'detail', 'reason', 'errormessage', 'error'];

/** @param text body of an answer with status 2xx. @param sent body of the request, which an answer may repeat. */
export function faultIn(text: string, sent: string): Refusal | null {
  const page = pageIn(text);
  if (page !== null) return { error: `${page} instead of an answer`, lasting: false };
  const ignored = SAYS_IGNORED.exec(text)?.[1];
  if (ignored !== undefined) return { error: `ignored the message: ${ignored}`, lasting: false };
  const value = jsonIn(text) ?? text;
  if (value === false) return { error: 'says: false', lasting: false };
  if (typeof value === 'object') return faultOf(value, sent);
  const said = oneLine(String(value));
  return SAYS_FAILED.test(said) || (said.startsWith('<') && XML_FAULT.test(said))
    ? { error: `says: ${said.slice(0, MAX_WORDS)}`, lasting: false }
    : null;
}

/** Names an HTML page in messages. @returns null: the answer is not a page. */
export function pageIn(text: string): string | null {
  if (!PAGE.test(text)) return null;
  const title = TITLE.exec(text)?.[1]?.trim();
  return title === undefined ? 'a page of HTML' : `a page of HTML ("${oneLine(title)}")`;
}

export function oneLine(text: string): string {
  return text.trim().replace(/\s+/g, ' ');
}

/** For example "refused the message with errcode 310000: keywords not in content". */
export function refusedWith(name: string, value: unknown, words: unknown): string {
  const shown = typeof value === 'object' ? JSON.stringify(value) : String(value);
  const said = typeof words === 'string' && words !== shown ? `: ${words.slice(0, MAX_WORDS)}` : '';
  return `refused the message with ${name} ${shown.slice(0, MAX_WORDS)}${said}`;
}

/**
 * @param isInner the value is the content of a wrapper. It may be the message itself, so fields that messages have are ignored.
 */
function faultOf(value: unknown, sent: string, isInner = false): Refusal | null {
  if (Array.isArray(value)) return first(value.slice(0, MAX_ITEMS), (item) => faultOf(item, sent, isInner));
  if (!isObject(value)) return null;
  const fields = Object.entries(value).map(
    ([name, field]) => [name, name.toLowerCase().replace(/[_-]/g, ''), field] as const,
  );
  const words = first(WORDS, (wanted) => {
    const field = fields.find(([, name]) => name === wanted)?.[2];
    return typeof field === 'string' && field !== '' ? field : null;
  });
  const isTaken =
    (words !== null && SAYS_TAKEN.test(words)) ||
    (fields.some(([, name, field]) => isTakenSign(name, field)) && !SAYS_FAILED.test(words ?? ''));
  const found = first(fields, ([shown, name, field]) => {
    const lasting = (name === 'errcode' || name === 'code') && words !== null;
    return isFault(name, field, words, isTaken) ? { error: refusedWith(shown, field, words), lasting } : null;
  });
  if (found !== null) return hinted(found);
  const isSent = words === null || sent.includes(JSON.stringify(words).slice(1, -1));
  if (!isInner && !isSent && SAYS_FAILED.test(words))
    return { error: `says: ${words.slice(0, MAX_WORDS)}`, lasting: false };
  if (isInner) return null;
  return first(fields, ([, name, field]) => (WRAPPERS.includes(name) ? faultOf(field, sent, true) : null));
}

/** A sign of success makes any number a success code: SMS.RU uses 100, WxPusher 1000. */
function isTakenSign(name: string, field: unknown): boolean {
  if (FLAGS.includes(name)) return field === true || field === 'true';
  return STATES.includes(name) && typeof field === 'string' && SAYS_DONE.test(field);
}

function isFault(name: string, field: unknown, words: string | null, isTaken: boolean): boolean {
  if (FLAGS.includes(name)) return [false, 0, 'false', '0', 'no'].includes(field as never);
  if (FAULTS.includes(name)) return isPresent(field);
  const code = typeof field === 'string' && /^-?\d{1,9}$/.test(field) ? Number(field) : field;
  if (typeof code === 'number') {
    if (isTaken || code === 0 || (code >= 200 && code < 300)) return false;
    if (ERROR_CODES.includes(name)) return true;
    return CODES.includes(name) && (code >= 300 || code < 0 || (name === 'code' && words !== null));
  }
  return STATES.includes(name) && (field === false || (typeof field === 'string' && SAYS_FAILED.test(field)));
}

/** `"error": null`, `"errors": []` and `"error": "SUCCESS"` report no error. */
function isPresent(field: unknown): boolean {
  if (typeof field === 'string') return field.trim() !== '' && field !== '0' && !SAYS_TAKEN.test(field);
  if (typeof field === 'object' && field !== null) return Object.keys(field).length > 0;
  return field !== null && field !== false && field !== 0;
}

function hinted({ error, lasting }: Refusal): Refusal {
  return {
    error: lasting ? `${error}; if this is the robot of a chat, set webhook_template` : error,
    lasting,
  };
}

function first<T, R>(items: readonly T[], find: (item: T) => R | null): R | null {
  for (const item of items) {
    const found = find(item);
    if (found !== null) return found;
  }
  return null;
}
