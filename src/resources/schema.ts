// How the files of this folder declare a report: one zod schema. Its TypeScript type, its JSON and its part of the OpenAPI document
// (api/schemas/answers.ts) follow from it. Fields are in the order of the JSON; fields that are not in the schema are omitted from
// the JSON. Also the form of lists and of optional fields of requests. Only api loads the schemas: other layers import types,
// because a command that serves no API must not load zod.
import { z } from 'zod';
import type { PageRequest, SliceOf } from '../domain/page.ts';
import { perTaskType, TASK_TYPES } from '../domain/task-type.ts';
import type { Wire } from '../platform/snake-keys.ts';

/** The read-only type of a schema. */
export type ReportOf<Schema extends z.ZodType> = ReadOnly<z.output<Schema>>;

type ReadOnly<T> = T extends Date
  ? T
  : T extends readonly (infer Item)[]
    ? readonly ReadOnly<Item>[]
    : T extends object
      ? { readonly [Key in keyof T]: ReadOnly<T[Key]> }
      : T;

export interface ItemsBody<Item> {
  readonly items: readonly Item[];
}
export type PageBody<Item> = SliceOf<Item> & Wire<PageRequest>;

/** Fields of a request; null and undefined mean not given. */
export type Open<Fields> = { readonly [Name in keyof Fields]?: Fields[Name] | null | undefined };
/** Times in RFC 3339. */
export type TimeQuery = Open<Record<'since' | 'until', string>>;

/** The names of reports in the OpenAPI document. A schema without a name is written out where it is used. */
export const REPORT_NAMES = z.registry<{ readonly id: string }>();

/** A report with a name in the OpenAPI document. */
export function report<Fields extends z.ZodRawShape>(id: string, fields: Fields) {
  return z.object(fields).register(REPORT_NAMES, { id });
}

export const taskType = z.enum(TASK_TYPES);

/** One value for each task type. */
export function perTaskTypeOf<Schema extends z.ZodType>(schema: Schema) {
  return z.object(perTaskType(() => schema));
}
