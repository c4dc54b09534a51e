// What an error tells the outside: an unexpected one nothing at all, whatever stands in it.
import { expect, it } from 'vitest';
import { problemOf } from '../../../src/api/problem.ts';
import { CardpollError, type ErrorKind } from '../../../src/platform/errors.ts';

const SECRET = 'postgres://cardpoll:hunter2@db/cards: WRONGTYPE at /srv/app.js:1';
const UNEXPECTED = {
  status: 500,
  code: 'internal',
  detail: 'an unexpected error; the api log has it under this request_id',
};
const ours = (kind: ErrorKind) => new CardpollError(kind, 'some_code', SECRET, { hint: SECRET });

it.each<[string, unknown]>([
  ['an error', new TypeError(SECRET)],
  ['an error with a status of the framework', Object.assign(new Error(SECRET), { statusCode: 500 })],
  ['an error with an odd status', Object.assign(new Error(SECRET), { statusCode: 200, code: SECRET })],
  ['our own error about the inside', ours('internal')],
  ['our own error about a disk', ours('io')],
  ['our own error about the configuration', ours('config')],
  ['a string', SECRET],
  ['an object', { message: SECRET, statusCode: 400 }],
  ['nothing', null],
])('%s is a 500 without a word of it', (_, error) => {
  expect(problemOf(error)).toEqual(UNEXPECTED);
});

it('says that the database user lacks a right, to any caller, without its name and that of the database', () => {
  const error = new CardpollError('config', 'postgres_rights_missing', SECRET, { hint: SECRET });
  expect(problemOf(error)).toEqual({
    status: 503,
    code: 'postgres_rights_missing',
    detail: 'the database user of the daemon lacks a right',
    hint: 'api.log of the daemon says which, and what grants it',
  });
});

it('says what the caller can change', () => {
  expect(problemOf(new CardpollError('conflict', 'busy_now', 'one runs', { hint: 'wait' }))).toEqual({
    status: 409,
    code: 'busy_now',
    detail: 'one runs',
    hint: 'wait',
  });
});
