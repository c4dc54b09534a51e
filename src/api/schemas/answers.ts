// The JSON of answers, and the description of a route: its purpose, its answer, and its request. The checks of requests and
// answers, the status of an answer, and the OpenAPI document follow from it. Used by the routes of the admin API.
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
import { type CamelKeys, camelKeys, snakeCase, toWire, type Wire } from '../../platform/snake-keys.ts';
import type { Endpoint } from '../../resources/endpoints.ts';
import { REPORT_NAMES, type ReportOf } from '../../resources/schema.ts';
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

/** A scope of the server with zod schemas, to which routes are added. */
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
/** The body as the client gets it. */
type BodyOf<Answer> = Answer extends z.ZodType ? Wire<z.output<Answer>> : string;

/** Adds an endpoint to the API. Its body in the table must match the schema of the answer. */
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

/** Checks a request by its schema, and passes the known names to the handler. */
export const validateRequest: typeof validatorCompiler = (route) => {
  const validate = validatorCompiler(route);
  return (input) => {
    const checked = validate(input) as { readonly value: unknown } | { readonly error: Error };
    return 'error' in checked ? checked : { value: camelKeys(checked.value) };
  };
};

/** Special treatment of a route by the server. */
interface Handling<Status extends number, Answer> extends Omit<FastifyContextConfig, 'versionOf'> {
  /** The version of its answer (etag.ts). */
  readonly versionOf?: (report: Answer extends z.ZodType ? ReportOf<Answer> : never) => string;
  /** Status of its answer; default 200. */
  readonly status?: Status;
  /** Largest body, if it is larger than on other routes. */
  readonly bodyLimit?: number;
}

/** An answer that is not JSON; the handler sends it unchanged. */
interface TextAnswer {
  readonly description: string;
  readonly content: Record<string, { readonly schema: z.ZodString }>;
}

export function textOf(description: string, ...types: readonly string[]): TextAnswer {
  return { description, content: Object.fromEntries(types.map((type) => [type, { schema: z.string() }])) };
}

/** @param tag of routes in the OpenAPI document (openapi.ts). @returns a function that describes such a route. */
export function answersOf(tag: string) {
  /**
   * @param answer the report that it returns.
   * @param takes params, querystring, headers and body, as far as the route has them.
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
 * Refuses query parameters that a route does not know: a misspelt one would otherwise widen the effect of a request. Call before
 * the first route is registered.
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

/** Handlers return reports; their JSON names and times are made when they are sent (serializeReport). */
type WireSchema<Schema extends z.ZodType> = z.ZodType<ReportOf<Schema>, ReportOf<Schema>>;

/** Serialises a report by the schema of its JSON. */
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

/** A short list without pages. */
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
