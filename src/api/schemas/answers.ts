// The JSON of answers, and how a route describes its own: what it is for, what it answers, and what it takes. From that follow
// the checks of requests and answers, the status of an answer, and the OpenAPI document. Used by the routes of the admin API.
//
// A report becomes a schema of its JSON: names in snake_case, times as RFC 3339 in UTC; toWire (platform/snake-keys.ts) does the
// same to values. Lists come in pages (contract, "Lists"): {items, page, page_size, total}.
import type { FastifyInstance } from 'fastify';
import { type FastifyPluginAsyncZod, serializerCompiler } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { PAGE_BOUNDS, PAGE_SIZE_BOUNDS, type PageRequest, type SliceOf, sliceOf } from '../../domain/page.ts';
import { REPORT_NAMES, type ReportOf } from '../../operations/report.ts';
import { snakeCase, toWire } from '../../platform/snake-keys.ts';
import { queryNumber } from './fields.ts';

/** What routes are added to: a scope of the server whose schemas are those of zod. */
export type Routes = Parameters<FastifyPluginAsyncZod>[0];

/** @param tag of routes in the OpenAPI document (openapi.ts). @returns what describes such a route. */
export function answersOf(tag: string) {
  /**
   * @param answer the report that it returns.
   * @param takes params, querystring, headers and body, as far as there are. @param status of its answer.
   */
  return <Answer extends z.ZodType, const Takes extends object = object, const Status extends number = 200>(
    summary: string,
    answer: Answer,
    takes: Takes = {} as Takes,
    status: Status = 200 as Status,
  ) => ({
    schema: {
      tags: [tag],
      summary,
      ...takes,
      response: { [status]: wireSchema(answer) } as Record<Status, WireSchema<Answer>>,
    },
  });
}

/** Gives every answer the lowest status that its route describes; errors have their own. */
export function setStatus(app: FastifyInstance): void {
  app.addHook('preHandler', async ({ routeOptions }, reply) => {
    const [status] = Object.keys(routeOptions.schema?.response ?? {});
    if (status !== undefined) reply.code(Number(status));
  });
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
type PageQuery = z.output<typeof pageQuery>;

/** A list that is short and has no pages. */
export function itemsOf<Item extends z.ZodType>(item: Item) {
  return z.object({ items: z.array(item) });
}

export function pageOf<Item extends z.ZodType>(item: Item) {
  return z.object({ items: z.array(item), page: z.int(), pageSize: z.int(), total: z.int() });
}

/** One page of a list that is short enough to be read in full. */
export function paginate<Item>(all: readonly Item[], query: PageQuery) {
  const { offset, limit } = sliceOf(pageRequestOf(query));
  return onPage({ items: all.slice(offset, offset + limit), total: all.length }, query);
}

/** A page of a list that is read page by page. */
export function onPage<Item>(slice: SliceOf<Item>, query: PageQuery) {
  return { ...slice, ...pageRequestOf(query) };
}

export function pageRequestOf({ page, page_size: pageSize }: PageQuery): PageRequest {
  return { page, pageSize };
}
