// Client of the admin API, used by the command line and the dashboard: a method for each endpoint of the table (endpoints.ts).
// Answers keep the body exactly as it was sent. client-calls.ts makes the calls.
import type { Readable } from 'node:stream';
import type { CardQuery, ImportBody, ImportFormat, ImportQuery } from '../../resources/cards.ts';
import { ENDPOINTS, type Endpoint, FILE_ENDPOINTS, LEAST_MS } from '../../resources/endpoints.ts';
import { type Answer, ApiCalls, type ApiClientOptions, type Call } from './client-calls.ts';
import { endedEarly, errorOfAnswer } from './client-errors.ts';

type Method<Called> =
  Called extends Endpoint<infer Body, infer Args> ? (...args: Args) => Promise<Answer<Body>> : never;
type Methods = { readonly [Name in keyof typeof ENDPOINTS]: Method<(typeof ENDPOINTS)[Name]> };

/** All methods throw CardpollError: `unavailable` without a usable answer, otherwise the error of the server. */
export interface ApiClient extends Methods {
  /** Yields the cards as they arrive: an export takes as long as its reader. */
  exportCards(filter: CardQuery, format: ImportFormat): AsyncGenerator<Buffer>;
  /** Sends the cards as they are read. */
  importCards(cards: Readable, format: ImportFormat, options: ImportQuery): Promise<Answer<ImportBody>>;
  /**
   * Previews an import with the options of importCards.
   * @param onFormer gets the cards that it would update, in their current state, in the form of an import; is awaited
   */
  previewImport(
    cards: Readable,
    format: ImportFormat,
    options: ImportQuery,
    onFormer: (former: ReadonlyArray<Record<string, unknown>>) => Promise<void>,
  ): Promise<ImportBody>;
}

export function apiClient(options: ApiClientOptions): ApiClient {
  const calls = new ApiCalls(options);
  const methods = Object.entries<Endpoint<never>>(ENDPOINTS).map(([name, endpoint]) => {
    const timeoutMs = Math.max(options.timeoutMs, LEAST_MS[name as keyof Methods] ?? 0);
    return [name, (...args: unknown[]) => calls.call({ ...callOf(endpoint, args), timeoutMs })];
  });
  const upload = (endpoint: Endpoint<never>, cards: Readable, format: ImportFormat, query: ImportQuery) => ({
    // A daemon of an older version refuses parameters that it does not know.
    ...callOf(endpoint, [Object.fromEntries(Object.entries(query).filter(([, value]) => value !== false))]),
    stream: cards,
    headers: { 'content-type': format === 'csv' ? 'text/csv' : 'application/x-ndjson' },
    timeoutMs: null,
  });
  return {
    ...(Object.fromEntries(methods) as Methods),
    exportCards: (filter, format) =>
      calls.stream({ ...callOf(FILE_ENDPOINTS.exportCards, [filter, format]), timeoutMs: null }),
    importCards: (...given) => calls.call<ImportBody>(upload(FILE_ENDPOINTS.importCards, ...given)),
    previewImport: async (cards, format, query, onFormer) => {
      let report: ImportBody | null = null;
      for await (const rows of calls.objects(upload(FILE_ENDPOINTS.previewImport, cards, format, query))) {
        const last = rows.at(-1);
        // The problem of a file that is refused after the answer has begun.
        if (last !== undefined && 'detail' in last)
          throw errorOfAnswer({ ...options, tokenFrom: null }, Number(last.status), JSON.stringify(last));
        const ends = last !== undefined && 'received' in last;
        if (ends) report = last as unknown as ImportBody;
        await onFormer(ends ? rows.slice(0, -1) : rows);
      }
      if (report === null) throw endedEarly(options.url, new Error('there was no report'));
      return report;
    },
  };
}

/** @param args the variables of the path, then the arguments of the endpoint; null and undefined are left out of a query */
function callOf({ method, path, takes }: Endpoint<never>, args: readonly unknown[]): Call {
  const left = [...args];
  const filled = path.replace(/:\w+/g, () => encodeURIComponent(String(left.shift())));
  const names = takes.split(' ').filter((name) => name !== '');
  const inQuery = method === 'GET' || method === 'DELETE' || takes.startsWith('?');
  const fields = names.flatMap((name, index) => {
    const value = left[index];
    return name.endsWith('*') ? Object.entries(value as object) : [[name.replace('?', ''), value] as const];
  });
  if (!inQuery)
    return { method, path: filled, json: names.length === 0 ? undefined : Object.fromEntries(fields) };
  const given = fields.flatMap(([name, value]) =>
    value === null || value === undefined ? [] : [[name, `${value}`] satisfies [string, string]],
  );
  const query = new URLSearchParams(given).toString();
  return { method, path: query === '' ? filled : `${filled}?${query}` };
}
