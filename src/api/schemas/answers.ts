// The JSON of answers, and how a route describes its own: what it is for, what it answers, and what it takes. From that follow
// the checks of requests and answers, the status of an answer, and the OpenAPI document. Used by the routes of the admin API.
//
// Names are in snake_case in the JSON and in camelCase in the handlers. The schema of a request has the names of its JSON. A
// report becomes a schema of its JSON: names in snake_case, times as RFC 3339 in UTC; toWire (platform/snake-keys.ts) does the
// same to values. Lists come in pages (contract, "Lists"): {items, page, page_size, total}.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type {
  FastifyContextConfig,
  FastifyInstance,
  FastifyPluginAsync,
  FastifyReply,
  FastifyRequest,
  FastifySchema,
  FastifyTypeProvider,
  RawServerDefault,
  RouteGenericInterface,
  RouteHandlerMethod,
  RouteOptions,
} from 'fastify';
import { serializerCompiler, validatorCompiler } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { PAGE_BOUNDS, PAGE_SIZE_BOUNDS, type PageRequest, type SliceOf, sliceOf } from '../../domain/page.ts';
import { REPORT_NAMES, type ReportOf } from '../../operations/report.ts';
import { type CamelKeys, camelKeys, snakeCase, toWire, type Wire } from '../../platform/snake-keys.ts';
import type { Endpoint } from '../client/endpoints.ts';
import { queryNumber } from './fields.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Query parameters that the route does not know are ignored: load balancers and monitors add their own. */
    anyQuery?: boolean;
  }
}

interface RouteTypes extends FastifyTypeProvider {
  validator: this['schema'] extends z.ZodType ? CamelKeys<z.output<this['schema']>> : unknown;
  serializer: this['schema'] extends z.ZodType ? z.output<this['schema']> : unknown;
}

/** What routes are added to: a scope of the server whose schemas are those of zod. */
export type Routes = Parameters<FastifyPluginAsync<Record<never, never>, RawServerDefault, RouteTypes>>[0];

export function routesOf(app: FastifyInstance): Routes {
  return app.withTypeProvider<RouteTypes>();
}

type Handler<Schema extends FastifySchema> = RouteHandlerMethod<
  RawServerDefault,
  IncomingMessage,
  ServerResponse,
  RouteGenericInterface,
  FastifyContextConfig,
  Schema,
  RouteTypes
>;
/** As the client gets it. */
type BodyOf<Answer> = Answer extends z.ZodType ? Wire<z.output<Answer>> : string;

/** Adds an endpoint to the API. Its body in the table has to be what the schema of the answer says. */
export type Serve = <const Schema extends FastifySchema & { readonly response: object }>(
  endpoint: Endpoint<BodyOf<Schema['response'][keyof Schema['response']]>>,
  options: Pick<RouteOptions, 'bodyLimit' | 'config' | 'preValidation'> & { readonly schema: Schema },
  handler: Handler<Schema>,
) => void;

export function serveOn(app: FastifyInstance): Serve {
  return ({ method, path }, options, handler) => {
    routesOf(app).route({ method, url: path, ...options, handler });
  };
}

/** Checks what a request has by its schema, and gives the handler the names it knows. */
export const validateRequest: typeof validatorCompiler = (route) => {
  const validate = validatorCompiler(route);
  return (input) => {
    const checked = validate(input) as { readonly value: unknown } | { readonly error: Error };
    return 'error' in checked ? checked : { value: camelKeys(checked.value) };
  };
};

/** How the server treats a route. */
interface Handling<Status extends number, Answer> extends Omit<FastifyContextConfig, 'versionOf'> {
  /** The version of what it answers (etag.ts). */
  readonly versionOf?: (report: Answer extends z.ZodType ? ReportOf<Answer> : never) => string;
  /** Of its answer; default 200. */
  readonly status?: Status;
  /** Of its body, if more than others may have. */
  readonly bodyLimit?: number;
}

/** An answer that is not JSON; the handler sends it as it is. */
interface TextAnswer {
  readonly description: string;
  readonly content: Record<string, { readonly schema: z.ZodString }>;
}

export function textOf(description: string, ...types: readonly string[]): TextAnswer {
  return { description, content: Object.fromEntries(types.map((type) => [type, { schema: z.string() }])) };
}

/** @param tag of routes in the OpenAPI document (openapi.ts). @returns what describes such a route. */
export function answersOf(tag: string) {
  /**
   * @param answer the report that it returns.
   * @param takes params, querystring, headers and body, as far as there are.
   */
  return <
    Answer extends z.ZodType | TextAnswer,
    const Takes extends object = object,
    const Status extends number = 200,
  >(
    summary: string,
    answer: Answer,
    takes: Takes = {} as Takes,
    { status = 200 as Status, bodyLimit, ...config }: Handling<Status, Answer> = {},
  ) => ({
    ...(bodyLimit === undefined ? {} : { bodyLimit }),
    config,
    schema: {
      tags: [tag],
      summary,
      ...takes,
      response: { [status]: answer instanceof z.ZodType ? wireSchema(answer) : answer } as Record<
        Status,
        Answer extends z.ZodType ? WireSchema<Answer> : Answer
      >,
    },
  });
}

/**
 * Refuses query parameters that a route does not know: a misspelt one would otherwise widen what a request does. Call before the
 * first route is registered.
 */
export function refuseUnknownParameters(app: FastifyInstance): void {
  app.addHook('onRoute', (route) => {
    if (route.config?.anyQuery === true) return;
    const { querystring } = route.schema ?? {};
    const known = querystring instanceof z.ZodObject ? querystring : z.object({});
    route.schema = { ...route.schema, querystring: known.strict() };
  });
}

/** Gives every answer the lowest status that its route describes; errors have their own. */
export function setStatus({ routeOptions }: FastifyRequest, reply: FastifyReply): void {
  const [status] = Object.keys(routeOptions.schema?.response ?? {});
  if (status !== undefined) reply.code(Number(status));
}

/** Handlers return reports: the names and times of JSON are made of them when they are sent (serializeReport). */
type WireSchema<Schema extends z.ZodType> = z.ZodType<ReportOf<Schema>, ReportOf<Schema>>;

/** Writes a report as the schema of its JSON says. */
export const serializeReport: typeof serializerCompiler = (route) => {
  const serialize = serializerCompiler(route);
  return (report) => serialize(toWire(report));
};

/** Reports that are part of others are described once. */
const named = new WeakMap<z.ZodType, z.ZodType>();

/** Keeps descriptions, and the name of a report as its id. */
export function wireSchema<Schema extends z.ZodType>(report: Schema): WireSchema<Schema> {
  return convert(report) as WireSchema<Schema>;
}

function convert(report: z.ZodType): z.ZodType {
  const known = named.get(report);
  if (known !== undefined) return known;
  const { description } = report;
  const bare = form(report);
  const described = description === undefined ? bare : bare.describe(description);
  const id = REPORT_NAMES.get(report)?.id;
  if (id === undefined) return described;
  const made = described.meta({ id });
  named.set(report, made);
  return made;
}

function form(report: z.ZodType): z.ZodType {
  if (report instanceof z.ZodDate) return z.iso.datetime();
  if (report instanceof z.ZodNullable) return convert(report.unwrap() as z.ZodType).nullable();
  if (report instanceof z.ZodArray) return z.array(convert(report.element as z.ZodType));
  if (!(report instanceof z.ZodObject)) return report;
  const fields = Object.entries<z.ZodType>(report.shape);
  return z.object(Object.fromEntries(fields.map(([name, field]) => [snakeCase(name), convert(field)])));
}

const DEFAULT_PAGE_SIZE = 20;

export const pageQuery = z.object({
  page: queryNumber(PAGE_BOUNDS).default(1),
  page_size: queryNumber(PAGE_SIZE_BOUNDS).default(DEFAULT_PAGE_SIZE),
});

/** A list that is short and has no pages. */
export function itemsOf<Item extends z.ZodType>(item: Item) {
  return z.object({ items: z.array(item) });
}

export function pageOf<Item extends z.ZodType>(item: Item) {
  return z.object({ items: z.array(item), page: z.int(), pageSize: z.int(), total: z.int() });
}

/** One page of a list that is short enough to be read in full. */
export function paginate<Item>(all: readonly Item[], query: PageRequest) {
  const { offset, limit } = sliceOf(query);
  return onPage({ items: all.slice(offset, offset + limit), total: all.length }, query);
}

/** A page of a list that is read page by page. */
export function onPage<Item>(slice: SliceOf<Item>, { page, pageSize }: PageRequest) {
  return { ...slice, page, pageSize };
}
