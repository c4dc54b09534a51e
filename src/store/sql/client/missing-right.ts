// Names the right that a database user lacks, by PostgreSQL's message, and the statement that grants it. Used by sql-errors.ts.
// PostgreSQL reports every missing right with one SQLSTATE (42501) and names the object only in the message; if that is in
// another language, the hint names the place to check.
import file from './missing-right.sql';
import { fill, statements } from './statements.ts';

const sql = statements(file);

/** The connected role and its database. */
export interface DatabaseUser {
  readonly role: string;
  readonly database: string;
}

const BY_OWNER = 'As its owner or a superuser run:';
const NOT_OWNER =
  'cardpoll creates and drops monthly partitions, so its role must own the tables. Name their owner in the database URL, or make the role a member of it, in psql as a superuser:';

const POLICY =
  'A row-level security policy refuses it, and cardpoll works with all rows. Drop the policy, or as a superuser run:';
/** The only 3F000 that is about a right: the role can create tables in no schema. */
const NO_SCHEMA = /^no schema has been selected to create in$/;

/** The first matching pattern decides; its group is the object. Each pattern has its explanation and its statement. */
const RIGHTS: readonly (readonly [message: RegExp, said: string, statement: string])[] = [
  [
    /^permission denied for schema (.+)$/,
    `The role lacks CREATE or USAGE on the schema {object}. ${BY_OWNER}`,
    sql.text('namedSchema'),
  ],
  [NO_SCHEMA, `The role lacks USAGE on the schema. ${BY_OWNER}`, sql.text('schema')],
  [
    /^permission denied for (?:table|view|materialized view|relation) (.+)$/,
    `The role lacks a right on the table {object}. ${BY_OWNER}`,
    sql.text('tables'),
  ],
  [
    /^permission denied for sequence (.+)$/,
    `The role lacks USAGE on the sequence {object}. ${BY_OWNER}`,
    sql.text('sequences'),
  ],
  [
    /^permission denied for (?:function|procedure|routine) (.+)$/,
    `The role lacks EXECUTE on {object}. ${BY_OWNER}`,
    sql.text('functions'),
  ],
  [
    /^permission denied to create temporary tables in database/,
    `The role lacks TEMPORARY on the database. ${BY_OWNER}`,
    sql.text('temporary'),
  ],
  [
    /^permission denied for database/,
    `The role lacks CONNECT on the database. ${BY_OWNER}`,
    sql.text('connect'),
  ],
  [
    /^must be owner of (?:table|relation|index|view|materialized view|sequence) (.+)$/,
    NOT_OWNER,
    sql.text('ownership'),
  ],
  [/row-level security policy/, POLICY, sql.text('policy')],
];

/** Whether the error is about a right: neither waiting nor another value helps. */
export function isMissingRight(state: string, message: string): boolean {
  return state === '42501' || (state === '3F000' && NO_SCHEMA.test(message));
}

/** @param user null: unknown. @returns what to do. */
export function grantFor(message: string, user: DatabaseUser | null): string {
  const { role, database } = user ?? { role: 'ROLE', database: 'DATABASE' };
  for (const [pattern, said, statement] of RIGHTS) {
    const found = pattern.exec(message);
    if (found === null) continue;
    const [, object = ''] = found;
    const names = { role: quoted(role), database: quoted(database), name: quoted(object) };
    const texts = { roletext: asText(role), text: asText(object) };
    return fill(`${said} ${statement}`, { ...names, ...texts, object });
  }
  return `Grant the role ${quoted(role)} the right that the message names, or name the owner of the tables in the database URL.`;
}

/** A name in a statement, always quoted because it may be an SQL keyword, such as `user`. */
function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** A string in a statement. */
function asText(name: string): string {
  return `'${name.replaceAll("'", "''")}'`;
}
