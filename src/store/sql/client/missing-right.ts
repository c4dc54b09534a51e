// Which right a database user lacks, by the words of PostgreSQL, and the statement that grants it. Used by sql-errors.ts. PostgreSQL
// reports every missing right with one SQLSTATE (42501) and names the object only in the message; where that is in another
// language, the hint says where to look.
import file from './missing-right.sql';
import { fill, statements } from './statements.ts';

const sql = statements(file);

/** Who is connected to which database. */
export interface DatabaseUser {
  readonly role: string;
  readonly database: string;
}

const BY_OWNER = 'As its owner or a superuser run:';
const NOT_OWNER =
  'cardpoll creates and drops monthly partitions, so its role must own the tables. Name their owner in the database URL, or make the role a member of it, in psql as a superuser:';

/** The first pattern that fits decides; its group is the object. With it go what is said, and the statement. */
const RIGHTS: readonly (readonly [message: RegExp, said: string, statement: string])[] = [
  [
    /^permission denied for schema (\S+)$/,
    `The role lacks CREATE or USAGE on the schema {object}. ${BY_OWNER}`,
    sql.text('namedSchema'),
  ],
  [
    /^no schema has been selected to create in$/,
    `The role lacks USAGE on the schema. ${BY_OWNER}`,
    sql.text('schema'),
  ],
  [
    /^permission denied for (?:table|view|materialized view|relation) (\S+)$/,
    `The role lacks a right on the table {object}. ${BY_OWNER}`,
    sql.text('tables'),
  ],
  [
    /^permission denied for sequence (\S+)$/,
    `The role lacks USAGE on the sequence {object}. ${BY_OWNER}`,
    sql.text('sequences'),
  ],
  [
    /^permission denied for (?:function|procedure|routine) (\S+)$/,
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
  [/^must be owner of (?:table|relation|index|view|sequence) (\S+)$/, NOT_OWNER, sql.text('ownership')],
];

/** @param user null: not known. @returns what to do. */
export function grantFor(message: string, user: DatabaseUser | null): string {
  const { role, database } = user ?? { role: 'ROLE', database: 'DATABASE' };
  for (const [pattern, said, statement] of RIGHTS) {
    const found = pattern.exec(message);
    if (found === null) continue;
    const text = `'${role.replaceAll("'", "''")}'`;
    const parts = { role: quoted(role), database: quoted(database), text, object: found[1] ?? '' };
    return fill(`${said} ${statement}`, parts);
  }
  return `Grant the role ${quoted(role)} the right that the message names, or name the owner of the tables in the database URL.`;
}

/** As PostgreSQL writes a name in a statement. */
function quoted(name: string): string {
  return /^[a-z_][a-z0-9_]*$/.test(name) ? name : `"${name.replaceAll('"', '""')}"`;
}
