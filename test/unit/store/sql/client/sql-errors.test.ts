import { describe, expect, it } from 'vitest';
import { CardpollError } from '../../../../../src/platform/errors.ts';
import { sqlStateOf, translateSqlError } from '../../../../../src/store/sql/client/sql-errors.ts';

function failure(code: string, message = 'it failed'): Error {
  return Object.assign(new Error(message), { code });
}

describe('translateSqlError', () => {
  it.each([
    ['ECONNREFUSED', 'unavailable', 'postgres_unreachable'],
    ['EPIPE', 'unavailable', 'postgres_unreachable'],
    ['57P01', 'unavailable', 'postgres_unreachable'],
    ['57P03', 'unavailable', 'postgres_unreachable'],
    ['08006', 'unavailable', 'postgres_unreachable'],
    ['25006', 'unavailable', 'postgres_read_only'],
    ['53100', 'unavailable', 'postgres_out_of_resources'],
    ['53300', 'unavailable', 'postgres_out_of_resources'],
    ['57014', 'unavailable', 'postgres_timeout'],
    ['40P01', 'unavailable', 'postgres_timeout'],
    ['42P01', 'config', 'not_migrated'],
    ['28P01', 'config', 'postgres_access_refused'],
    ['3D000', 'config', 'postgres_access_refused'],
    ['42501', 'config', 'postgres_rights_missing'],
    ['23514', 'invalid', 'value_refused'],
    ['22003', 'invalid', 'value_refused'],
    ['P0001', 'invalid', 'value_refused'],
    ['42601', 'internal', 'postgres_error'],
  ])('%s is %s: %s', (state, kind, code) => {
    const error = translateSqlError(failure(state), 'PostgreSQL at db1:5432');
    expect(error).toMatchObject({ kind, code });
    expect(error.message).toContain('PostgreSQL at db1:5432');
    expect(sqlStateOf(error)).toBe(state);
  });

  it.each([
    'Connection terminated unexpectedly',
    'Connection terminated due to connection timeout',
    'timeout exceeded when trying to connect',
    'Query read timeout',
    'Client has encountered a connection error and is not queryable',
  ])('knows a lost connection by its words: %s', (message) => {
    expect(translateSqlError(new Error(message), 'x').code).toBe('postgres_unreachable');
  });

  it('looks into the several addresses of one host', () => {
    const error = new AggregateError([
      failure('ECONNREFUSED', 'connect ECONNREFUSED ::1:5432'),
      failure('ECONNREFUSED'),
    ]);
    expect(translateSqlError(error, 'x')).toMatchObject({ code: 'postgres_unreachable' });
    expect(translateSqlError(error, 'x').message).toContain('::1:5432');
  });

  const SCHEMA = 'As its owner or a superuser run: GRANT CREATE, USAGE ON SCHEMA';
  const POLICY =
    'A row-level security policy refuses it, and cardpoll works with all rows. Drop the policy, or as a superuser run: ALTER ROLE "Card Poll" BYPASSRLS;';

  it.each<[message: string, state: string, hint: string]>([
    [
      'no schema has been selected to create in',
      '3F000',
      `The role lacks USAGE on the schema. ${SCHEMA} public TO "Card Poll";`,
    ],
    [
      'permission denied for schema my "fleet"',
      '42501',
      `The role lacks CREATE or USAGE on the schema my "fleet". ${SCHEMA} "my ""fleet""" TO "Card Poll";`,
    ],
    [
      'permission denied for schema order',
      '42501',
      `The role lacks CREATE or USAGE on the schema order. ${SCHEMA} "order" TO "Card Poll";`,
    ],
    [
      'permission denied for database user',
      '42501',
      'The role lacks CONNECT on the database. As its owner or a superuser run: GRANT CONNECT ON DATABASE "user" TO "Card Poll";',
    ],
    ['new row violates row-level security policy for table "cards"', '42501', POLICY],
    ['query would be affected by row-level security policy for table "cards"', '42501', POLICY],
  ])('says what is missing where PostgreSQL says: %s', (message, state, hint) => {
    const error = translateSqlError(failure(state, message), 'x', { role: 'Card Poll', database: 'user' });
    expect(error).toMatchObject({ code: 'postgres_rights_missing', hint });
  });

  it('does not call a schema that does not exist a missing right', () => {
    const error = translateSqlError(failure('3F000', 'schema "x" does not exist'), 'x');
    expect(error).toMatchObject({ kind: 'internal', code: 'postgres_error', hint: undefined });
  });

  it('asks for the right that the message names, where it cannot read the message', () => {
    const message = 'keine Berechtigung für Tabelle cards';
    const user = { role: 'card poll', database: 'cardpoll' };
    expect(translateSqlError(failure('42501', message), 'x', user).hint).toBe(
      'Grant the role "card poll" the right that the message names, or name the owner of the tables in the database URL.',
    );
  });

  it('leaves alone what is translated already, and does not hide a bug', () => {
    const known = new CardpollError('busy', 'lock_held', 'held');
    expect(translateSqlError(known, 'x')).toBe(known);
    expect(translateSqlError(new TypeError('no such property'), 'x')).toMatchObject({ kind: 'internal' });
  });
});
