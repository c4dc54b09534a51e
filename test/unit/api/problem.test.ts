// What an error is to the outside: status and code by kind, and nothing of the inside.
import { expect, it } from 'vitest';
import { problemOf } from '../../../src/api/problem.ts';
import { CardpollError } from '../../../src/platform/errors.ts';

const INTERNAL = {
  status: 500,
  code: 'internal',
  detail: 'an unexpected error; the api log has it under this request_id',
};

it.each(['io', 'config', 'internal'] as const)(
  'an error of kind %s tells nothing but that it happened',
  (kind) => {
    expect(problemOf(new CardpollError(kind, 'secret_code', 'secret text', { hint: 'secret' }))).toEqual(
      INTERNAL,
    );
  },
);

it.each([new Error('secret text'), 'secret text', null, undefined])('neither does %j', (thrown) => {
  expect(problemOf(thrown)).toEqual(INTERNAL);
});
