// Reads a call back into the card it is for: the inverse of request.ts. Compiled once for each interface of a profile. A call
// fits if it is exactly what the profile's templates make, credentials aside.
import type { GatewayInterface } from '../../config/daemon-config.ts';
import { partsOf } from '../../domain/gateway/profile-syntax.ts';
import { jsonIn } from '../../platform/json.ts';
import type { ReceivedCall } from './dialect.ts';

/** What the placeholders of a call stood for. */
type Found = Map<string, string>;

/** @returns whether the value fits; what it stands for is added to `found`. */
type Fits<V> = (value: V, found: Found) => boolean;

export interface CallTemplate {
  readonly fitsHead: (method: string, url: string) => boolean;
  /** @returns the cards that the call is for; null: it does not fit. */
  readonly cardsOf: (call: ReceivedCall) => readonly string[] | null;
}

/** @param credential query parameter that is no part of the template; null: none */
export function callTemplate(call: GatewayInterface, credential: string | null): CallTemplate {
  const join = call.batch?.join ?? ',';
  const [path = '', ownQuery = ''] = call.path.split('?', 2);
  const fitsPath = textFits(path, '[^/]+', decodeURIComponent);
  const fitsQuery = pairsFit([...new URLSearchParams(ownQuery), ...Object.entries(call.query)]);
  const headers = Object.entries(call.headers).map(([name, text]) => ({
    name: name.toLowerCase(),
    fits: textFits(text, '.+', decodeURIComponent),
  }));
  const fitsBody = bodyFits(call);
  return {
    fitsHead: (method, url) => method === call.method && fitsPath(pathOf(url), new Map()),
    cardsOf: ({ method, url, headers: received, body }) => {
      const found: Found = new Map();
      const query = queryOf(url);
      if (credential !== null) query.delete(credential);
      const fits =
        method === call.method &&
        fitsPath(pathOf(url), found) &&
        fitsQuery(query, found) &&
        headers.every(({ name, fits }) => fits(String(received[name] ?? ''), found)) &&
        fitsBody(body, found);
      if (!fits) return null;
      const many = found
        .get('iccids')
        ?.split(LISTED)
        .flatMap((text) => text.split(join));
      const cards = many ?? [found.get('iccid') ?? found.get('card_id') ?? ''];
      return cards.every((card) => card !== '') ? cards : null;
    },
  };
}

/** Between the cards of a list, which no text has. */
const LISTED = '\0';

function pathOf(url: string): string {
  return url.split('?', 1)[0] ?? '';
}

export function queryOf(url: string): URLSearchParams {
  return new URLSearchParams(url.slice(pathOf(url).length));
}

/** @param wildcard pattern of a placeholder. */
function textFits(template: string, wildcard: string, decode = (text: string) => text): Fits<string> {
  const { texts, placeholders } = partsOf(template);
  const pattern = new RegExp(`^${texts.map(escaped).join(`(${wildcard})`)}$`, 's');
  return (text, found) => {
    const match = pattern.exec(text);
    return (
      match?.slice(1).every((value, i) => noted(found, placeholders[i] ?? '', decoded(value, decode))) ??
      false
    );
  };
}

/** A placeholder stands for the same everywhere in a call. */
function noted(found: Found, name: string, value: string): boolean {
  const before = found.get(name);
  found.set(name, value);
  return before === undefined || before === value;
}

function decoded(value: string, decode: (text: string) => string): string {
  try {
    return decode(value);
  } catch {
    return value;
  }
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

function pairsFit(pairs: ReadonlyArray<readonly [string, string]>): Fits<URLSearchParams> {
  const templates = pairs.map(([name, text]) => ({ name, fits: textFits(text, '.+') }));
  return (received, found) =>
    received.size === templates.length &&
    templates.every(({ name, fits }) => fits(received.get(name) ?? '', found));
}

function bodyFits({ body, form }: GatewayInterface): Fits<string> {
  if (form !== null) {
    const fits = pairsFit(Object.entries(form));
    return (text, found) => fits(new URLSearchParams(text), found);
  }
  if (body === null) return (text) => text === '';
  const fits = jsonFits(body);
  return (text, found) => fits(jsonIn(text), found);
}

function jsonFits(template: unknown): Fits<unknown> {
  if (template === '{iccids}') {
    return (value, found) =>
      Array.isArray(value) &&
      value.every((card) => typeof card === 'string') &&
      noted(found, 'iccids', value.join(LISTED));
  }
  if (typeof template === 'string') {
    const fits = textFits(template, '.+');
    return (value, found) => typeof value === 'string' && fits(value, found);
  }
  if (typeof template !== 'object' || template === null) return (value) => value === template;
  const parts = Object.entries(template).map(([key, part]) => ({ key, fits: jsonFits(part) }));
  const isList = Array.isArray(template);
  return (value, found) =>
    typeof value === 'object' &&
    value !== null &&
    Array.isArray(value) === isList &&
    Object.keys(value).length === parts.length &&
    parts.every(({ key, fits }) => fits((value as Record<string, unknown>)[key], found));
}
