import { expect, it } from 'vitest';
import { CardpollError, messageOf } from '../../../src/platform/errors.ts';

it('an error carries what to do, why, and which fields', () => {
  const cause = new Error('refused');
  const fields = [{ field: 'page', message: 'must be at least 1' }];
  const error = new CardpollError('invalid', 'page_invalid', 'page is wrong', { hint: 'ask', cause, fields });
  expect(error).toMatchObject({ name: 'CardpollError', kind: 'invalid', code: 'page_invalid', hint: 'ask' });
  expect([error.message, error.cause, error.fields]).toEqual(['page is wrong', cause, fields]);
  expect(new CardpollError('busy', 'held', 'held')).toMatchObject({ hint: undefined, fields: [] });
});

it.each([
  [new Error('one'), 'one'],
  [new AggregateError([new Error('one'), 'two']), 'one; two'],
  [new AggregateError([new Error('one')], 'all of them'), 'all of them'],
  ['text', 'text'],
  [undefined, 'undefined'],
])('the message of %s', (thrown, message) => {
  expect(messageOf(thrown)).toBe(message);
});
