// Errors as RFC 9457 problems. The only place that maps an error to an HTTP status. Used by error-handling.ts.
import type { FastifyError, FastifySchemaValidationError } from 'fastify';
import { hasZodFastifySchemaValidationErrors } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { VERSION_CHANGED } from '../operations/requirements.ts';
import { CardpollError, type ErrorKind, type FieldProblem } from '../platform/errors.ts';
import { snakeCase } from '../platform/snake-keys.ts';

export const PROBLEM_TYPE = 'application/problem+json';

/** The fields of every error answer. `errors` for 422, `hint` if there is something to do. */
const problemSchema = z
  .object({
    type: z.string(),
    title: z.string(),
    status: z.int(),
    detail: z.string(),
    code: z.string(), // stable, in snake_case
    instance: z.string(),
    request_id: z.string(),
    hint: z.string().optional(),
    errors: z.array(z.object({ field: z.string(), message: z.string() })).optional(),
  })
  .meta({ id: 'Problem' });
export type ProblemBody = z.output<typeof problemSchema>;

/** An error in its public form, before it belongs to a request. */
export type Problem = Readonly<Pick<ProblemBody, 'status' | 'code' | 'detail' | 'hint' | 'errors'>>;

const STATUS_OF_KIND: Record<ErrorKind, number> = {
  usage: 400,
  invalid: 422,
  bad_data: 400,
  input_missing: 400,
  not_found: 404,
  conflict: 409,
  busy: 409,
  unavailable: 503,
  auth: 403,
  io: 500,
  config: 500,
  internal: 500,
};

/** Code for missing or unknown credentials, as opposed to insufficient rights. */
export const UNAUTHENTICATED = 'unauthenticated';
export const TOKEN_EXPIRED = 'token_expired';
export const RATE_LIMITED = 'rate_limited';
export const TOO_BUSY = 'too_busy';
/** Code for a body with a content encoding, which is checked first. */
export const UNSUPPORTED_ENCODING = 'unsupported_content_encoding';
export const EXPECTATION_FAILED = 'expectation_failed';

/** Errors whose status depends on their code, not on their kind. */
const STATUS_OF_CODE: Record<string, number> = {
  [UNAUTHENTICATED]: 401,
  [TOKEN_EXPIRED]: 401,
  [VERSION_CHANGED]: 412,
  [RATE_LIMITED]: 429,
  [TOO_BUSY]: 429,
  [UNSUPPORTED_ENCODING]: 415,
  [EXPECTATION_FAILED]: 417,
};

/** Replaces the error, which names the role and the database: even callers without a token may see this answer. */
const RIGHTS_MISSING: Problem = {
  status: 503,
  code: 'postgres_rights_missing',
  detail: 'the database user of the daemon lacks a right',
  hint: 'api.log of the daemon says which, and what grants it',
};

/** The message about a field or query parameter that no route reads. */
export const UNKNOWN_FIELD = 'is not a known field';

const FRAMEWORK_CODES: Record<string, string> = {
  FST_ERR_CTP_INVALID_JSON_BODY: 'malformed_json',
  FST_ERR_CTP_EMPTY_JSON_BODY: 'malformed_json',
  FST_ERR_CTP_BODY_TOO_LARGE: 'body_too_large',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'unsupported_media_type',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'content_length_mismatch',
  FST_ERR_BAD_URL: 'malformed_url',
  FST_ERR_MAX_PARAM_LENGTH: 'url_too_long',
};

const UNEXPECTED: Problem = {
  status: 500,
  code: 'internal',
  detail: 'an unexpected error; the api log has it under this request_id',
};

/** @param error anything thrown. An unknown error becomes a 500 that reveals nothing internal. */
export function problemOf(error: unknown): Problem {
  if (error instanceof CardpollError) return problemOfCardpollError(error);
  if (hasZodFastifySchemaValidationErrors(error)) return problemOfValidation(error);
  if (!(error instanceof Error)) return UNEXPECTED;
  const { statusCode, code, message } = error as Error & { statusCode?: number; code?: string };
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500) {
    return { status: statusCode, code: FRAMEWORK_CODES[code ?? ''] ?? 'bad_request', detail: message };
  }
  return UNEXPECTED;
}

function problemOfCardpollError(error: CardpollError): Problem {
  if (error.code === RIGHTS_MISSING.code) return RIGHTS_MISSING;
  const status = STATUS_OF_CODE[error.code] ?? STATUS_OF_KIND[error.kind];
  if (status === 500) return UNEXPECTED;
  const errors = error.fields.map(({ field, message }) => ({ field: snakeCase(field), message }));
  const problem = { status, code: error.code, detail: error.message, hint: error.hint };
  return errors.length > 0 ? { ...problem, errors } : problem;
}

function problemOfValidation({
  validation = [],
  validationContext,
}: Pick<FastifyError, 'validation' | 'validationContext'>): Problem {
  const errors = distinct(validation.flatMap(fieldProblemsOf));
  const detail = errors.map(({ field, message }) => `${field} ${message}`).join('; ');
  // A path with an invalid variable counts as an unknown path.
  if (validationContext === 'params') return { status: 404, code: 'not_found', detail };
  return { status: 422, code: 'invalid_field', detail, errors };
}

/** One wrong value may violate several rules with the same text. */
function distinct(problems: readonly FieldProblem[]): FieldProblem[] {
  return [...new Map(problems.map((problem) => [`${problem.field} ${problem.message}`, problem])).values()];
}

function fieldProblemsOf(issue: FastifySchemaValidationError): FieldProblem[] {
  const path = issue.instancePath.split('/').filter((part) => part !== '');
  if (issue.keyword === 'unrecognized_keys') {
    const keys = issue.params.keys as string[];
    return keys.map((key) => ({ field: [...path, key].join('.'), message: UNKNOWN_FIELD }));
  }
  return [{ field: path.join('.') || 'body', message: issue.message ?? 'is not valid' }];
}
