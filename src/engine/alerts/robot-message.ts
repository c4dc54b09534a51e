// The message of an alert to the robot of a chat, and what its answer says. A robot answers 200 also when it refuses a message, so
// the body decides. Used by webhook-attempt.ts.
//
// Each robot as its page describes it: DingTalk (custom robot), WeCom (group robot), Feishu (custom bot), Slack (incoming webhook).
import { createHmac } from 'node:crypto';
import { WEBHOOK_FORMAT_FACTS, type WebhookFormat } from '../../domain/alerts/webhook-format.ts';
import { isObject, jsonIn } from '../../platform/json.ts';
import { faultIn, oneLine, pageIn, type Refusal, refusedWith } from './answer-fault.ts';

type RobotFormat = Exclude<WebhookFormat, 'standard'>;

interface Robot {
  /** @param atMs of this attempt: a signature is good for an hour at most. */
  readonly body: (text: string, secret: string | null, atMs: number) => Record<string, unknown>;
  /** Parameters of the URL that sign the message. */
  readonly query: (secret: string, atMs: number) => Record<string, string>;
  /** Field of the answer that is 0 when the robot took the message, and the one with its words. */
  readonly code: string;
  readonly words: string;
  /** Codes of a robot that is busy: the message may be sent again. Any other code refuses it for good. */
  readonly busy: readonly number[];
}

const base64 = (key: string, text: string) => createHmac('sha256', key).update(text).digest('base64');
const NO_QUERY = () => ({});

const ROBOTS: Readonly<Record<Exclude<RobotFormat, 'slack'>, Robot>> = {
  dingtalk: {
    body: (text) => ({ msgtype: 'text', text: { content: text } }),
    query: (secret, atMs) => ({ timestamp: `${atMs}`, sign: base64(secret, `${atMs}\n${secret}`) }),
    code: 'errcode',
    words: 'errmsg',
    busy: [-1, 130101, 130102],
  },
  wecom: {
    body: (text) => ({ msgtype: 'text', text: { content: text } }),
    query: NO_QUERY,
    code: 'errcode',
    words: 'errmsg',
    busy: [-1, 45009, 45033],
  },
  feishu: {
    body: (text, secret, atMs) => {
      // A robot reads tags in a text: a name must not call everybody.
      const content = { text: text.replaceAll('<', '＜') };
      if (secret === null) return { msg_type: 'text', content };
      const timestamp = `${Math.floor(atMs / 1_000)}`;
      return { timestamp, sign: base64(`${timestamp}\n${secret}`, ''), msg_type: 'text', content };
    },
    query: NO_QUERY,
    code: 'code',
    words: 'msg',
    busy: [11232, 11233],
  },
};

/** The smallest limit of the four: 2,048 bytes of a text to WeCom. */
const MAX_TEXT_BYTES = 2_000;

interface RobotRequest {
  readonly url: string;
  readonly body: string;
}

export function robotRequest(
  format: RobotFormat,
  url: string,
  text: string,
  secret: string | null,
  atMs: number,
): RobotRequest {
  const fitting = cut(text);
  if (format === 'slack') return { url, body: JSON.stringify({ text: escaped(fitting) }) };
  const robot = ROBOTS[format];
  const signed = new URL(url);
  for (const [name, value] of Object.entries(secret === null ? {} : robot.query(secret, atMs))) {
    signed.searchParams.set(name, value);
  }
  return { url: signed.href, body: JSON.stringify(robot.body(fitting, secret, atMs)) };
}

/** The signs of Slack's markup. */
function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** Whole lines that fit, and how many did not. */
function cut(text: string): string {
  if (Buffer.byteLength(text) <= MAX_TEXT_BYTES) return text;
  const lines = text.split('\n');
  const kept: string[] = [];
  let bytes = 0;
  for (const line of lines) {
    bytes += Buffer.byteLength(line) + 1;
    if (bytes > MAX_TEXT_BYTES - 40) break;
    kept.push(line);
  }
  return [...kept, `and ${lines.length - kept.length} more lines`].join('\n');
}

/**
 * @param text of an answer with status 2xx. @param host that answered. @param sent the body of the request.
 * @returns null when the message was taken.
 */
export function refusalIn(format: WebhookFormat, text: string, host: string, sent: string): Refusal | null {
  const saysOk = WEBHOOK_FORMAT_FACTS.slack.hosts.includes(host);
  if (format === 'standard' || (format === 'slack' && !saysOk)) return faultIn(text, sent);
  if (format === 'slack')
    return text.trim() === 'ok' ? null : { error: notSaid(format, text), lasting: false };
  const answer = jsonIn(text);
  const { code, words, busy } = ROBOTS[format];
  const given = isObject(answer) ? answer[code] : undefined;
  if (typeof given !== 'number' || !isObject(answer)) return { error: notSaid(format, text), lasting: false };
  return given === 0
    ? null
    : { error: refusedWith(code, given, answer[words]), lasting: !busy.includes(given) };
}

function notSaid(format: RobotFormat, text: string): string {
  const begin = oneLine(text).slice(0, 80);
  const shown = begin === '' ? 'an empty answer' : `the answer "${begin}"`;
  return `did not say that it took the message, as ${format} does: ${pageIn(text) ?? shown}`;
}
