// Makes requests from the templates of a profile: each is compiled once, and a call only fills in the placeholders. Used by
// requests for cards (card-request.ts), by logins (token-sources.ts) and, part by part, by messages to receivers of alerts.
import type { GatewayInterface, JsonTemplate } from '../../domain/gateway/gateway-config.ts';
import { type Placeholder, partsOf } from '../../domain/gateway/profile-syntax.ts';
import { type GatewayRequest, NO_SECRET, without, withQuery } from './request.ts';
import { ENCODINGS } from './unpack.ts';

type Template = Pick<
  GatewayInterface,
  'method' | 'path' | 'query' | 'headers' | 'body' | 'bodyText' | 'form'
>;

/** The values of the placeholders in one request; the template has no other placeholders. */
type Filling<Name extends string = Placeholder> = Readonly<Partial<Record<Name, string | readonly string[]>>>;

type Fill<Name extends string = Placeholder> = (values: Filling<Name>) => string;

const FIXED_HEADERS = ['accept', 'application/json', 'accept-encoding', ENCODINGS, 'user-agent', 'cardpoll'];

/** @param url base of the template's path. @param join between the cards of a batch. */
export function requestTemplate(
  template: Template,
  url: string,
  join = ',',
): (values: Filling) => GatewayRequest {
  const { method, path, query, body, bodyText, form } = template;
  const basePath = new URL(url).pathname.replace(/\/+$/, '');
  const fillPath = filled(withQuery(basePath + path || '/', formText(query)), join, encodeURIComponent);
  const fillHeaders = Object.entries(template.headers).map(
    ([name, text]) => [name.toLowerCase(), filled(text, join, inHeader)] as const,
  );
  const fillForm = form && filled(formText(form), join, encodeURIComponent);
  const fillText = bodyText === null ? fillForm : filled(bodyText, join, textCodec(bodyText));
  const fillBody = body === null ? fillText : jsonBody(body, join);
  const fixedHeaders = without(
    fillHeaders.map(([name]) => name),
    [...FIXED_HEADERS, ...contentTypeOf(template)],
  );
  const headersFor = (values: Filling) => [
    ...fixedHeaders,
    ...fillHeaders.flatMap(([name, fill]) => [name, fill(values)]),
  ];
  return (values) => {
    // Where possible the same list for each request, so that `prover` builds its headers only once.
    const headers = fillHeaders.length === 0 ? fixedHeaders : headersFor(values);
    return { method, path: fillPath(values), headers, body: fillBody?.(values) ?? null, secret: NO_SECRET };
  };
}

function contentTypeOf({ method, body, bodyText, form }: Template): readonly string[] {
  if (form !== null) return ['content-type', 'application/x-www-form-urlencoded'];
  if (bodyText !== null) return ['content-type', isXml(bodyText) ? 'application/xml' : 'text/plain'];
  const isBare = method === 'GET' || method === 'DELETE';
  return body !== null || !isBare ? ['content-type', 'application/json'] : [];
}

/** A password is sent unchanged if a header can contain it. */
export function inHeader(value: string): string {
  return /^[\x20-\x7e]*$/.test(value) ? value : encodeURIComponent(value);
}

function isXml(text: string): boolean {
  return text.trimStart().startsWith('<');
}

/** Escapes a value for a text of this form. */
function textCodec(text: string): (value: string) => string {
  if (!isXml(text)) return (value) => value;
  return (value) => value.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);
}

/** Names and texts in query form, with placeholders unchanged. */
function formText(texts: Readonly<Record<string, string>>): string {
  return Object.entries(texts)
    .map(([name, text]) => `${encodeURIComponent(name)}=${keepingPlaceholders(text)}`)
    .join('&');
}

function keepingPlaceholders(text: string): string {
  const { texts, placeholders } = partsOf(text);
  return texts
    .map((part, i) => encodeURIComponent(part) + (i < placeholders.length ? `{${placeholders[i]}}` : ''))
    .join('');
}

/** @param join between the cards of a batch. @param encode for the values; the rest of the template is sent unchanged. */
export function filled<Name extends string = Placeholder>(
  template: string,
  join: string,
  encode: (value: string) => string,
): Fill<Name> {
  const { texts, placeholders } = partsOf<Name>(template);
  return (values) => {
    let text = texts[0] ?? '';
    placeholders.forEach((placeholder, i) => {
      const value = values[placeholder] ?? '';
      // The separator of a list is not part of a card number, so it stays unescaped.
      text += typeof value === 'string' ? encode(value) : value.map(encode).join(join);
      text += texts[i + 1];
    });
    return text;
  };
}

/** The text {iccids} alone becomes the list of cards, and so does a list that contains only this text. */
function jsonBody(body: JsonTemplate, join: string): Fill {
  const lists = JSON.stringify(body)
    .split(/\["\{iccids\}"\]|"\{iccids\}"/)
    .map((part) => filled(part, join, quoted));
  const [only, second] = lists;
  if (only !== undefined && second === undefined) return only;
  return (values) => lists.map((fill) => fill(values)).join(JSON.stringify(values.iccids ?? []));
}

/** Escapes a value for the inside of a JSON string. */
export function quoted(value: string): string {
  return JSON.stringify(value).slice(1, -1);
}
