// The JSON of a report, as a schema: names in snake_case, times as RFC 3339 in UTC. Used by the routes; toWire
// (platform/snake-keys.ts) does the same to values.
import { z } from 'zod';
import { REPORT_NAMES } from '../operations/report.ts';
import { snakeCase, type Wire } from '../platform/snake-keys.ts';

type WireSchema<Schema extends z.ZodType> = z.ZodType<Wire<z.output<Schema>>, Wire<z.output<Schema>>>;

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
