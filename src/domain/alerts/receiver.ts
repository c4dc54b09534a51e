// A receiver of alerts as a template: the request for its message, and the answers that say that it took it. Also how a rule
// chooses one. Made by src/config/receivers from files, filled in by engine/alerts/receiver-message.ts; the operations check rules by it.
import type { Code, JsonTemplate } from '../gateway/gateway-config.ts';
import { namesInBraces } from '../gateway/profile-syntax.ts';

/** What a template may have in braces, besides its own words and secrets. A number that stands alone in a JSON text stays a number. */
export const NUMBER_PLACEHOLDERS = ['value', 'threshold'] as const;
const TEXT_PLACEHOLDERS = [
  ...(['text', 'title', 'summary', 'severity', 'status', 'rule', 'rule_type', 'task_type', 'fleet'] as const),
  ...(['command', 'runbook_url', 'dedup_key', 'message_id', 'at', 'timestamp', 'timestamp_ms'] as const),
] as const;
/** Signatures that no template can compute; each needs the secret `sign`. */
export const SIGNATURES = ['dingtalk_sign', 'feishu_sign'] as const;

export const RECEIVER_PLACEHOLDERS = [...TEXT_PLACEHOLDERS, ...NUMBER_PLACEHOLDERS, ...SIGNATURES] as const;
export type ReceiverValues = Readonly<
  Record<(typeof TEXT_PLACEHOLDERS | typeof NUMBER_PLACEHOLDERS)[number], string>
>;

/** The URL of the rule, at the beginning of a URL. */
export const RULE_URL = '{url}';
export const SECRET_PREFIX = 'secret_';

export const RECEIVER_METHODS = ['POST', 'PUT', 'PATCH', 'GET'] as const;

export interface ReceiverRequest {
  readonly method: (typeof RECEIVER_METHODS)[number];
  readonly url: string;
  /** Added to the query of the URL. */
  readonly query: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON; null: there is a text, or no body. */
  readonly body: JsonTemplate | null;
  readonly text: string | null;
}

/** Which answers say that the message was taken. */
export interface Acceptance {
  /** null: 200 to 299. */
  readonly status: readonly number[] | null;
  /** Place of what decides in the answer; null: the message counts as taken unless the answer says otherwise. */
  readonly path: string | null;
  /** null: anything. */
  readonly values: readonly Code[] | null;
  /** Values with which the receiver asks for patience; any other one refuses the message for good. null: every refusal is tried again. */
  readonly busy: readonly Code[] | null;
  /** Place of the receiver's words. */
  readonly words: string | null;
  /** Hosts to which the path applies; empty: all. */
  readonly at: readonly string[];
}

/** By status or severity: what the receiver calls it. */
export type WordTable = Readonly<Partial<Record<MessageStatus | Severity, Code>>>;
export type MessageStatus = 'fired' | 'resolved' | 'test';
type Severity = 'alert' | 'warning' | 'info';

export interface Receiver {
  readonly from: 'shipped' | 'configured';
  readonly description: string;
  readonly request: ReceiverRequest;
  /** What is different in the message that an alert is over. */
  readonly resolved: Partial<ReceiverRequest>;
  /** What is different in a message that the secret `sign` signs; null: none is signed. */
  readonly signed: Partial<ReceiverRequest> | null;
  readonly words: Readonly<Record<string, WordTable>>;
  /** What replaces characters in texts that the receiver would take for markup. */
  readonly escapes: Readonly<Record<string, string>>;
  readonly maxBytes: number;
  readonly accept: Acceptance;
  /** A rule with such a URL has this receiver by default. */
  readonly hosts: readonly string[];
  /** Those that the configuration gives. */
  readonly secrets: Readonly<Record<string, string>>;
}

/** As the database checks it. */
export const RECEIVER_NAME = /^[a-z0-9]{1,40}$/;

export type Receivers = Readonly<Record<string, Receiver>>;

/** The message of Standard Webhooks, which is no template. */
export const STANDARD = 'standard';

/** The receiver of a rule, or `standard`. @param chosen null: by the host of its URL. */
export function webhookFormatOf(chosen: string | null, url: string | null, receivers: Receivers): string {
  if (chosen !== null) return chosen;
  const host = url !== null && URL.canParse(url) ? new URL(url).hostname : '';
  return Object.entries(receivers).find(([, { hosts }]) => hosts.includes(host))?.[0] ?? STANDARD;
}

/** @returns undefined for `standard`, and for a receiver that is not configured. */
export function receiverNamed(name: string, receivers: Receivers): Receiver | undefined {
  return Object.hasOwn(receivers, name) ? receivers[name] : undefined;
}

/** The URL that the receiver has by itself; null: that of the rule. */
export function ownUrlOf({ request }: Receiver): string | null {
  return request.url.startsWith(RULE_URL) ? null : request.url;
}

/** Names of the secrets that its messages contain. */
export function sentSecrets({ request, resolved }: Receiver): string[] {
  return secretNamesIn({ request, resolved });
}

/** In any part of a template. */
export function secretNamesIn(template: unknown): string[] {
  const names = namesInBraces(JSON.stringify(template)).filter((name) => name.startsWith(SECRET_PREFIX));
  return [...new Set(names.map((name) => name.slice(SECRET_PREFIX.length)))];
}

/** The only secret of a receiver, which a rule may give; null: there is none, or there are several. */
export function secretOfRule(receiver: Receiver): string | null {
  const names = [...sentSecrets(receiver), ...(receiver.signed === null ? [] : ['sign'])];
  return names.length === 1 ? (names[0] ?? null) : null;
}

/** The secrets of a message by name. @param own those of the rule, the newest first. */
export function secretsFor(receiver: Receiver, own: readonly string[]): Readonly<Record<string, string>> {
  const name = secretOfRule(receiver);
  const [first] = own;
  return name === null || first === undefined ? receiver.secrets : { ...receiver.secrets, [name]: first };
}

export function missingSecrets(receiver: Receiver, own: readonly string[]): string[] {
  const given = secretsFor(receiver, own);
  return sentSecrets(receiver).filter((name) => !Object.hasOwn(given, name));
}

/** Whether the receiver joins messages by their key: then each alert needs a message of its own, or its incident stays open. */
export function joinsByKey({ request, resolved }: Receiver): boolean {
  return namesInBraces(JSON.stringify([request, resolved])).includes('dedup_key');
}

/** A test counts as fired, and a table without states goes by severity. */
export function wordIn(table: WordTable, status: MessageStatus, severity: Severity): Code {
  const ofStatus = table[status] ?? (status === 'test' ? table.fired : undefined);
  return ofStatus ?? table[severity] ?? '';
}
