// An error of the daemon has the same meaning, and so the same exit code, in the command that asked it.
import { expect, it } from 'vitest';
import { errorOfAnswer } from '../../../../src/api/client/client-errors.ts';
import { problemOf } from '../../../../src/api/problem.ts';
import { CardpollError, type ErrorKind } from '../../../../src/platform/errors.ts';

it.each<[ErrorKind, code: string]>([
  ['config', 'postgres_rights_missing'],
  ['unavailable', 'postgres_unreachable'],
  ['not_found', 'card_not_found'],
])('an error %s stays one: %s', (kind, code) => {
  const problem = problemOf(new CardpollError(kind, code, 'it failed', { hint: 'do this' }));
  const answer = errorOfAnswer({ url: 'http://x', tokenFrom: null }, problem.status, JSON.stringify(problem));
  expect(answer).toMatchObject({ kind, code, message: problem.detail, hint: problem.hint });
});
