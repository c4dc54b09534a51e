// The message of an alert to a receiver with a template: fills the template in as gateway profiles are filled in, and interprets
// the receiver's answers. Used by webhook-message.ts and webhook-attempt.ts. domain/alerts/receiver.ts describes templates.
import { createHmac } from 'node:crypto';
import {
  type Acceptance,
  type MessageStatus,
  missingSecrets,
  NUMBER_PLACEHOLDERS,
  ownUrlOf,
  type Receiver,
  type ReceiverRequest,
  type ReceiverValues,
  RULE_URL,
  SECRET_PREFIX,
  secretsFor,
  wordIn,
} from '../../domain/alerts/receiver.ts';
import { isNothingAt, parseValuePath, valueAt, WHOLE } from '../../domain/gateway/profile-syntax.ts';
import { filled, inHeader, quoted } from '../../gateway/request/template.ts';
import { jsonIn } from '../../platform/json.ts';
import { faultIn, oneLine, pageIn, type Refusal, refusedWith } from './answer-fault.ts';

interface ReceiverMessage {
  readonly method: ReceiverRequest['method'];
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Secrets that no log, error or answer may show. */
  readonly secrets: readonly string[];
  /** Why the message cannot be sent; null: it can. */
  readonly problem: string | null;
}

/** The values of a message, before they have the receiver's form. */
export type MessageValues = Omit<
  ReceiverValues,
  'timestamp' | 'timestamp_ms' | 'title' | 'status' | 'severity'
> & {
  readonly status: MessageStatus;
  readonly severity: 'alert' | 'warning' | 'info';
};

/** @param own secrets of the rule. @param atMs time of this attempt: a signature is valid for an hour at most. */
export function receiverMessage(
  receiver: Receiver,
  { url: ruleUrl, secrets: own }: { readonly url: string; readonly secrets: readonly string[] },
  message: MessageValues,
  atMs: number,
): ReceiverMessage {
  const secrets = secretsFor(receiver, own);
  const { resolved, signed, words } = receiver;
  const request = {
    ...receiver.request,
    ...(message.status === 'resolved' ? resolved : {}),
    ...(signed !== null && secrets.sign !== undefined ? signed : {}),
  };
  const tables = Object.entries(words).map(
    ([name, table]) => [name, `${wordIn(table, message.status, message.severity)}`] as const,
  );
  const signs: Record<string, string> = secrets.sign === undefined ? {} : signatures(secrets.sign, atMs);
  const values = {
    ...writtenFor(receiver, message),
    ...{ timestamp: `${Math.floor(atMs / 1_000)}`, timestamp_ms: `${atMs}` },
    ...Object.fromEntries(tables),
    ...Object.fromEntries(Object.entries(secrets).map(([name, value]) => [SECRET_PREFIX + name, value])),
    ...signs,
  };
  const fill: Fill = (template, encode) => filled<string>(template, ',', encode)(values);
  const missing = missingSecrets(receiver, own);
  const body = bodyOf(request, numericNames(receiver), fill);
  return {
    method: request.method,
    url: urlOf(request, fill(ownUrlOf(receiver) ?? ruleUrl, inUrl), fill),
    headers: headersOf(request, body, fill),
    body,
    secrets: [...Object.values(secrets), ...Object.values(signs)],
    problem: missing.length === 0 ? null : `the receiver has no secret ${missing.join(', ')}`,
  };
}

type Fill = (template: string, encode: (value: string) => string) => string;
const asIs = (value: string) => value;
/** A path may contain a colon, and some servers require it unescaped. */
const inUrl = (value: string) => encodeURIComponent(value).replaceAll('%3A', ':');

function urlOf({ url: template, query }: ReceiverRequest, base: string, fill: Fill): string {
  const path = template.startsWith(RULE_URL) ? template.slice(RULE_URL.length) : null;
  if (path === '' && Object.keys(query).length === 0) return base;
  const url = new URL(path === null ? fill(template, inUrl) : base);
  if (path) url.pathname = url.pathname.replace(/\/+$/, '') + fill(path, inUrl);
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, fill(value, asIs));
  return url.href;
}

function bodyOf({ body, text }: ReceiverRequest, numbers: readonly string[], fill: Fill): string {
  if (text !== null) return fill(text, asIs);
  if (body === null) return '';
  // Removes the quotes around a placeholder that is a number.
  const bare = new RegExp(`"\\{(${numbers.join('|')})\\}"`, 'g');
  return fill(JSON.stringify(body).replace(bare, '{$1}'), quoted);
}

function headersOf(
  { headers, text, body }: ReceiverRequest,
  sent: string,
  fill: Fill,
): Record<string, string> {
  const own = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), fill(value, inHeader)]);
  const type = text === null ? 'application/json' : 'text/plain; charset=utf-8';
  return {
    ...((text ?? body) === null ? {} : { 'content-type': type }),
    ...{ 'content-length': String(Buffer.byteLength(sent)), 'user-agent': 'cardpoll' },
    ...Object.fromEntries(own),
  };
}

/** Names of the placeholders whose values are all numbers or booleans. */
function numericNames({ words }: Receiver): string[] {
  const tables = Object.entries(words).filter(([, table]) =>
    Object.values(table).every((word) => typeof word !== 'string'),
  );
  return [...NUMBER_PLACEHOLDERS, ...tables.map(([name]) => name)];
}

function signatures(secret: string, atMs: number) {
  const base64 = (key: string, text: string) => createHmac('sha256', key).update(text).digest('base64');
  return {
    dingtalk_sign: base64(secret, `${atMs}\n${secret}`),
    feishu_sign: base64(`${Math.floor(atMs / 1_000)}\n${secret}`, ''),
  };
}

function writtenFor({ escapes, maxBytes }: Receiver, message: MessageValues): Record<string, string> {
  const text = cut(message.text, maxBytes);
  const values = {
    ...message,
    text,
    title: text.split('\n', 1)[0] ?? '',
    summary: cut(message.summary, maxBytes),
  };
  const written = (value: string) => [...value].map((char) => escapes[char] ?? char).join('');
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, written(value)]));
}

/** Keeps the whole lines that fit and adds the number of dropped lines; of a single long line it keeps the beginning. */
function cut(text: string, maxBytes: number): string {
  if (Buffer.byteLength(text) <= maxBytes) return text;
  const lines = text.split('\n');
  const kept: string[] = [];
  let bytes = 0;
  for (const line of lines) {
    bytes += Buffer.byteLength(line) + 1;
    if (bytes > maxBytes - 40) break;
    kept.push(line);
  }
  if (kept.length === 0)
    return `${Buffer.from(text)
      .subarray(0, maxBytes - 40)
      .toString()
      .replace(/\ufffd$/, '')}…`;
  return [...kept, `and ${lines.length - kept.length} more lines`].join('\n');
}

type Verdict = { readonly taken: string } | Refusal;

/**
 * Interprets an answer with a status of success. @param accept null: any form of answer. @param host the receiver.
 * @param sent the body of the request, which an answer may repeat.
 */
export function verdictOn(
  accept: Acceptance | null,
  status: number,
  text: string,
  host: string,
  sent: string,
): Verdict {
  if (accept?.status?.includes(status) === false)
    return { error: `only ${accept.status.join(' and ')} says that the message was taken`, lasting: false };
  if (accept === null || accept.path === null || (accept.at.length > 0 && !accept.at.includes(host)))
    return faultIn(text, sent) ?? { taken: 'the status says so, and nothing in the answer says otherwise' };
  const { path, values, busy, words } = accept;
  const place = path === WHOLE ? 'the answer' : path;
  const answer = jsonIn(text);
  const found = path === WHOLE ? (answer ?? text.trim()) : at(answer, path);
  const isThere = found !== undefined && found !== '' && pageIn(text) === null;
  if (!isThere || (values === null && isNothingAt(answer, parseValuePath(path) ?? [])))
    return { error: withoutConfirmation(place, values, text), lasting: false };
  if (values === null || values.includes(found as never))
    return { taken: `${place} is ${oneLine(JSON.stringify(found)).slice(0, 80)}` };
  const said = words === null ? null : at(answer, words);
  return { error: refusedWith(place, found, said), lasting: busy !== null && !busy.includes(found as never) };
}

function at(answer: unknown, path: string): unknown {
  return valueAt(answer, parseValuePath(path) ?? []);
}

function withoutConfirmation(place: string, values: Acceptance['values'], text: string): string {
  const begin = oneLine(text).slice(0, 80);
  const shown = begin === '' ? 'an empty answer' : `the answer "${begin}"`;
  const wanted = values === null ? '' : ` ${values.map((value) => JSON.stringify(value)).join(' or ')}`;
  return `did not say that it took the message (${place}${wanted}): ${pageIn(text) ?? shown}`;
}
