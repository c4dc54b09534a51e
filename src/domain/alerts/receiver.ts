// A receiver of alerts as a template: the request for its message, and the answers that confirm it. Also how a rule chooses one.
// Made by src/config/receivers from files, filled in by engine/alerts/receiver-message.ts; the operations check rules with it.
import type { Code, JsonTemplate } from '../gateway/gateway-config.ts';
import { namesInBraces } from '../gateway/profile-syntax.ts';

/** Placeholders of a template, in addition to its own words and secrets. A number alone in a JSON text stays a number. */
export const NUMBER_PLACEHOLDERS = ['value', 'threshold'] as const;
const TEXT_PLACEHOLDERS = [
  ...(['text', 'title', 'summary', 'severity', 'status', 'rule', 'rule_type', 'task_type', 'fleet'] as const),
  ...(['command', 'runbook_url', 'dedup_key', 'message_id', 'at', 'timestamp', 'timestamp_ms'] as const),
] as const;
/** Signatures that a template cannot express; each needs the secret `sign`. */
export const SIGNATURES = ['dingtalk_sign', 'feishu_sign'] as const;

export const RECEIVER_PLACEHOLDERS = [...TEXT_PLACEHOLDERS, ...NUMBER_PLACEHOLDERS, ...SIGNATURES] as const;
export type ReceiverValues = Readonly<
  Record<(typeof TEXT_PLACEHOLDERS | typeof NUMBER_PLACEHOLDERS)[number], string>
>;

/** Stands for the URL of the rule, at the beginning of a URL. */
export const RULE_URL = '{url}';
export const SECRET_PREFIX = 'secret_';

export const RECEIVER_METHODS = ['POST', 'PUT', 'PATCH', 'GET'] as const;

export interface ReceiverRequest {
  readonly method: (typeof RECEIVER_METHODS)[number];
  readonly url: string;
  /** Added to the query of the URL. */
  readonly query: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON; null: the body is a text, or absent. */
  readonly body: JsonTemplate | null;
  readonly text: string | null;
}

/** Which answers confirm that the message was accepted. */
export interface Acceptance {
  /** null: 200 to 299. */
  readonly status: readonly number[] | null;
  /** Place of the decisive value in the answer; null: the message counts as accepted unless the answer reports an error. */
  readonly path: string | null;
  /** null: any value. */
  readonly values: readonly Code[] | null;
  /** Values that mean busy; any other one refuses the message permanently. null: every refusal is retried. */
  readonly busy: readonly Code[] | null;
  /** Place of the receiver's message. */
  readonly words: string | null;
  /** Hosts to which the path applies; empty: all. */
  readonly at: readonly string[];
}

/** The receiver's names, by status or severity. */
export type WordTable = Readonly<Partial<Record<MessageStatus | Severity, Code>>>;
export type MessageStatus = 'fired' | 'resolved' | 'test';
type Severity = 'alert' | 'warning' | 'info';

export interface Receiver {
  readonly from: 'shipped' | 'configured';
  readonly description: string;
  readonly request: ReceiverRequest;
  /** Differences in the message that an alert has resolved. */
  readonly resolved: Partial<ReceiverRequest>;
  /** Differences in a message signed with the secret `sign`; null: messages are not signed. */
  readonly signed: Partial<ReceiverRequest> | null;
  readonly words: Readonly<Record<string, WordTable>>;
  /** Replacements of characters that the receiver would interpret as markup. */
  readonly escapes: Readonly<Record<string, string>>;
  readonly maxBytes: number;
  readonly accept: Acceptance;
  /** Receiver by default for rules with a URL of these hosts. */
  readonly hosts: readonly string[];
  /** Secrets from the configuration. */
  readonly secrets: Readonly<Record<string, string>>;
}

/** The same pattern as in the database. */
export const RECEIVER_NAME = /^[a-z0-9]{1,40}$/;

export type Receivers = Readonly<Record<string, Receiver>>;

/** The message of Standard Webhooks, which has no template. */
export const STANDARD = 'standard';

/** The receiver of a rule, or `standard`. @param chosen null: chosen by the host of its URL. */
export function webhookFormatOf(chosen: string | null, url: string | null, receivers: Receivers): string {
  if (chosen !== null) return chosen;
  const host = url !== null && URL.canParse(url) ? new URL(url).hostname : '';
  return Object.entries(receivers).find(([, { hosts }]) => hosts.includes(host))?.[0] ?? STANDARD;
}

/** @returns undefined for `standard`, and for a receiver that is not configured. */
export function receiverNamed(name: string, receivers: Receivers): Receiver | undefined {
  return Object.hasOwn(receivers, name) ? receivers[name] : undefined;
}

/** The receiver's own URL; null: the rule has it. */
export function ownUrlOf({ request }: Receiver): string | null {
  return request.url.startsWith(RULE_URL) ? null : request.url;
}

/** Names of the secrets that its messages contain. */
export function sentSecrets({ request, resolved }: Receiver): string[] {
  return secretNamesIn({ request, resolved });
}

/** The names of secrets in any part of a template. */
export function secretNamesIn(template: unknown): string[] {
  const names = namesInBraces(JSON.stringify(template)).filter((name) => name.startsWith(SECRET_PREFIX));
  return [...new Set(names.map((name) => name.slice(SECRET_PREFIX.length)))];
}

/** The only secret of a receiver, which a rule may give; null: none, or several. */
export function secretOfRule(receiver: Receiver): string | null {
  const names = [...sentSecrets(receiver), ...(receiver.signed === null ? [] : ['sign'])];
  return names.length === 1 ? (names[0] ?? null) : null;
}

/** The secrets of a message by name. @param own secrets of the rule, the newest first. */
export function secretsFor(receiver: Receiver, own: readonly string[]): Readonly<Record<string, string>> {
  const name = secretOfRule(receiver);
  const [first] = own;
  return name === null || first === undefined ? receiver.secrets : { ...receiver.secrets, [name]: first };
}

export function missingSecrets(receiver: Receiver, own: readonly string[]): string[] {
  const given = secretsFor(receiver, own);
  return sentSecrets(receiver).filter((name) => !Object.hasOwn(given, name));
}

/** Whether the receiver joins messages by their key: each alert then needs a separate message, or its incident stays open. */
export function joinsByKey({ request, resolved }: Receiver): boolean {
  return namesInBraces(JSON.stringify([request, resolved])).includes('dedup_key');
}

/** A test counts as fired; a table without statuses is read by severity. */
export function wordIn(table: WordTable, status: MessageStatus, severity: Severity): Code {
  const ofStatus = table[status] ?? (status === 'test' ? table.fired : undefined);
  return ofStatus ?? table[severity] ?? '';
}
