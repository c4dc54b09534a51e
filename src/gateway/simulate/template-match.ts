// Reads a call back into the card it is for: the inverse of request.ts. A call and the profile's template of it are written in the
// same way, as a text that for a template is a pattern: a call fits if it is exactly what the template makes, credentials aside.
import type { GatewayInterface } from '../../domain/gateway/gateway-config.ts';
import {
  CREDENTIAL_PLACEHOLDERS,
  PLACEHOLDERS,
  type Placeholder,
} from '../../domain/gateway/profile-syntax.ts';
import { isObject, jsonFault, jsonIn } from '../../platform/json.ts';
import type { ReceivedCall } from './dialect.ts';

export interface RequestTemplate {
  readonly fitsHead: (method: string, url: string) => boolean;
  /** @returns what the placeholders of the template stand for; null: the call does not fit. */
  readonly valuesOf: (call: ReceivedCall) => Readonly<Partial<Record<Placeholder, string>>> | null;
}

export interface CallTemplate extends RequestTemplate {
  /** @returns the cards that the call is for; null: it does not fit. */
  readonly cardsOf: (call: ReceivedCall) => readonly string[] | null;
}

/** @param credential query parameter that is no part of the template; null: none */
export function callTemplate(call: GatewayInterface, credential: string | null): CallTemplate {
  const template = requestTemplate(call, credential);
  return {
    ...template,
    cardsOf: (received) => {
      const { iccids, iccid, card_id: cardId, vendor_id: vendorId = '' } = template.valuesOf(received) ?? {};
      const cards =
        iccids === undefined ? [iccid ?? cardId ?? vendorId] : cardsIn(iccids, call.batch?.join ?? ',');
      return cards.every((card) => card !== '') ? cards : null;
    },
  };
}

/** @param credential as above */
export function requestTemplate(
  call: Pick<GatewayInterface, 'method' | 'path' | 'query' | 'headers' | 'body' | 'bodyText' | 'form'>,
  credential: string | null,
): RequestTemplate {
  const { method, path, query, body, bodyText, form } = call;
  const templateUrl = new URLSearchParams([...queryOf(path), ...Object.entries(query)]);
  const headers = Object.entries(call.headers).map(([name, text]) => [name.toLowerCase(), text] as const);
  const head = patternOf(headText(method, path));
  const whole = patternOf(
    callText(
      headText(method, path),
      listed(templateUrl),
      headers.map(([, text]) => `: ${text}`),
      form === null ? (body ?? bodyText ?? '') : listed(new URLSearchParams(form)),
    ),
  );
  const received = (text: string) =>
    form !== null ? listed(new URLSearchParams(text)) : body !== null ? shallowJson(text) : text;
  return {
    fitsHead: (method, url) => head.test(headText(method, url)),
    valuesOf: (call) => {
      const parameters = queryOf(call.url);
      if (credential !== null) parameters.delete(credential);
      const text = callText(
        headText(call.method, call.url),
        listed(parameters),
        headers.map(([name]) => `: ${call.headers[name] ?? ''}`),
        received(call.body),
      );
      const fit = whole.exec(text);
      return fit && { ...fit.groups };
    },
  };
}

function pathOf(url: string): string {
  return url.split('?', 1)[0] ?? '';
}

export function queryOf(url: string): URLSearchParams {
  return new URLSearchParams(url.slice(pathOf(url).length));
}

function headText(method: string, url: string): string {
  return JSON.stringify(`${method} ${pathOf(url)}`);
}

/** Only a text of a JSON body can be a placeholder and nothing else, so a quoted {iccids} is the list of a body. */
function callText(head: string, ...parts: readonly unknown[]): string {
  return head + JSON.stringify(parts, sortedKeys);
}

function sortedKeys(_: string, part: unknown): unknown {
  if (!isObject(part)) return part;
  return Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Parameters or form fields, whatever their order. */
function listed(fields: URLSearchParams): string[] {
  fields.sort();
  return [...fields].map(([name, value]) => `${name}=${value}`);
}

/** @returns undefined for what is no JSON, or too deep to be written again. */
function shallowJson(text: string): unknown {
  const value = jsonIn(text);
  return value === undefined || jsonFault(text) !== null ? undefined : value;
}

const NAMES = [...new Set<string>([...PLACEHOLDERS, ...CREDENTIAL_PLACEHOLDERS])].join('|');
const PLACED = new RegExp(`(\\["\\{iccids\\}"\\]|"\\{iccids\\}"|\\{(?:${NAMES})\\})`);
/** What a placeholder may stand for: no number and no date has these. */
const VALUE = '[^"\\\\/]+';
/** What is written without a mark between it and the next. */
const OWN_VALUES: Readonly<Record<string, string>> = { timestamp: '\\d{14}', sequence: '\\d{8}' };
const LIST = `\\["${VALUE}"(?:,"${VALUE}")*\\]`;

/** A placeholder stands for the same everywhere in a call. */
function patternOf(template: string): RegExp {
  const seen = new Set<string>();
  const parts = template.split(PLACED).map((part, i) => {
    if (i % 2 === 0) return part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
    const [name = ''] = /\w+/.exec(part) ?? [];
    if (seen.has(name)) return `\\k<${name}>`;
    seen.add(name);
    return `(?<${name}>${/^[["]/.test(part) ? LIST : (OWN_VALUES[name] ?? VALUE)})`;
  });
  return new RegExp(`^${parts.join('')}$`);
}

function cardsIn(iccids: string, join: string): readonly string[] {
  return iccids.startsWith('[') ? (JSON.parse(iccids) as string[]) : iccids.split(join);
}
