// Fields of requests that several resources share: whole numbers with bounds, task types, reasons. Used by the schemas and
// routes; a 422 shows the messages.
import { z } from 'zod';
import { CARD_ID_BOUNDS } from '../../domain/manual-trigger.ts';
import { ONE_LINE } from '../../domain/plain-text.ts';
import { TASK_TYPES } from '../../domain/task-type.ts';
import { type Bounds, wholeNumberWithin } from '../../operations/requirements.ts';

/** A required JSON integer within bounds, ends included. */
export function wholeNumber(bounds: Bounds) {
  const error = wholeNumberWithin(bounds);
  return z
    .int({ error: requiredOr(error) })
    .min(bounds.min, { error })
    .max(bounds.max, { error });
}

/** A whole number in the query string within bounds, ends included. */
export function queryNumber(bounds: Bounds) {
  const error = wholeNumberWithin(bounds);
  return (
    z
      .string({ error })
      // Not a pattern, because the document shows a number.
      .refine((value) => /^-?\d{1,16}$/.test(value), { error })
      .transform(Number)
      .refine((value) => value >= bounds.min && value <= bounds.max, { error })
      .meta({ type: 'integer', minimum: bounds.min, maximum: bounds.max })
  );
}

/** true or false in the query string. */
export const queryYesOrNo = z
  .enum(['true', 'false'], { error: 'must be true or false' })
  .transform((value) => value === 'true');

export function oneOf<const Words extends readonly string[]>(words: Words) {
  return z.enum(words, { error: requiredOr(`must be one of ${words.join(', ')}`) });
}

export const taskType = oneOf(TASK_TYPES);

export const yesOrNo = z.boolean({ error: requiredOr('must be true or false') });

/** Required text on one line; white space around it is removed. */
export function line({ min, max }: Bounds, rule: string) {
  const error = requiredOr(rule);
  return z.string({ error }).trim().min(min, { error }).max(max, { error }).regex(ONE_LINE, { error });
}

/** The number of a record in a path. @param what name of the record, with its article. */
export function idOf(what: string, digits = 10) {
  const rule = new RegExp(`^[1-9]\\d{0,${digits - 1}}$`);
  return z
    .string()
    .regex(rule, { error: requiredOr(`must be the number of ${what}`) })
    .transform(Number);
}

/** A time as in RFC 3339, as epoch milliseconds. */
export const instant = z.iso
  .datetime({ offset: true, error: 'must be a time as in 2026-11-21T10:00:00Z' })
  .transform((at) => Date.parse(at));

/** One problem for the whole list: ten thousand wrong ids are one mistake. */
export function listOfCards(most: number) {
  const { min, max } = CARD_ID_BOUNDS;
  const isCardId = (one: unknown) => Number.isSafeInteger(one) && (one as number) >= min;
  const isList = (value: unknown) =>
    Array.isArray(value) && value.length > 0 && value.length <= most && value.every(isCardId);
  const rule = wholeNumberWithin({ min, max }).replace(/^must be /, '');
  return z
    .custom<number[]>(isList, { error: requiredOr(`must hold 1 to ${most} card ids, each ${rule}`) })
    .meta({
      type: 'array',
      items: { type: 'integer', minimum: min, maximum: max },
      minItems: 1,
      maxItems: most,
    });
}

const MAX_REASON_CHARS = 200;
const reasonError = `must be text of at most ${MAX_REASON_CHARS} characters on one line`;

/** An operator's reason for an action. It is shown on terminals and in logs. */
export const reason = z
  .string({ error: reasonError })
  .max(MAX_REASON_CHARS, { error: reasonError })
  .regex(ONE_LINE, { error: reasonError })
  .default('');

/** A request body: a JSON object with these fields and no others. */
export function body<Shape extends z.ZodRawShape>(shape: Shape) {
  return z.strictObject(shape, {
    error: (issue) => (issue.code === 'invalid_type' ? 'must be a JSON object' : undefined),
  });
}

export function requiredOr(message: string) {
  return (issue: { readonly input?: unknown }) => (issue.input === undefined ? 'is required' : message);
}
