// The tables of a database with all that belongs to them, as SQL to be read, in an order that stays and without what
// depends on the month: partitions. Asks PostgreSQL's catalogs, since pg_dump need not be installed, and each release of
// it writes another text.
import pg from 'pg';

interface Named {
  readonly name: string;
  readonly statement: string;
}

const TABLES = `
  SELECT c.relname AS name,
    format(E'CREATE %sTABLE %s (\\n%s\\n)%s%s;',
      CASE c.relpersistence WHEN 'u' THEN 'UNLOGGED ' ELSE '' END,
      c.relname,
      concat_ws(E',\\n', columns.list, constraints.list),
      ' PARTITION BY ' || pg_get_partkeydef(c.oid),
      ' WITH (' || array_to_string(c.reloptions, ', ') || ')') AS statement
  FROM pg_class c
  CROSS JOIN LATERAL (
    SELECT string_agg(concat_ws(' ', '  ' || a.attname, format_type(a.atttypid, a.atttypmod),
      CASE WHEN a.attidentity <> '' THEN
        'GENERATED ' || CASE a.attidentity WHEN 'a' THEN 'ALWAYS' ELSE 'BY DEFAULT' END || ' AS IDENTITY' END,
      CASE WHEN a.attgenerated = 's' THEN 'GENERATED ALWAYS AS (' || pg_get_expr(d.adbin, d.adrelid) || ') STORED'
        ELSE 'DEFAULT ' || pg_get_expr(d.adbin, d.adrelid) END,
      CASE WHEN a.attnotnull THEN 'NOT NULL' END), E',\\n' ORDER BY a.attnum) AS list
    FROM pg_attribute a LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
    WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
  ) columns
  CROSS JOIN LATERAL (
    SELECT string_agg(format('  CONSTRAINT %s %s', k.conname, pg_get_constraintdef(k.oid)), E',\\n'
      ORDER BY strpos('pufcx', k.contype::text), k.conname COLLATE "C") AS list
    FROM pg_constraint k WHERE k.conrelid = c.oid AND k.contype IN ('p', 'u', 'f', 'c', 'x')
  ) constraints
  WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition`;

const INDEXES = `
  SELECT t.relname AS name, pg_get_indexdef(i.indexrelid) || ';' AS statement
  FROM pg_index i JOIN pg_class t ON t.oid = i.indrelid
  WHERE t.relnamespace = 'public'::regnamespace AND NOT t.relispartition
    AND NOT EXISTS (SELECT 1 FROM pg_constraint k WHERE k.conindid = i.indexrelid)`;

const TRIGGERS = `
  SELECT t.relname AS name, pg_get_triggerdef(g.oid) || ';' AS statement
  FROM pg_trigger g JOIN pg_class t ON t.oid = g.tgrelid
  WHERE t.relnamespace = 'public'::regnamespace AND NOT t.relispartition AND NOT g.tgisinternal`;

const COMMENTS = `
  SELECT c.relname AS name,
    format(CASE n.objsubid WHEN 0 THEN 'COMMENT ON TABLE %s%s IS %L;' ELSE 'COMMENT ON COLUMN %s.%s IS %L;' END,
      c.relname, a.attname, n.description) AS statement
  FROM pg_description n JOIN pg_class c ON c.oid = n.objoid AND n.classoid = 'pg_class'::regclass
  LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = n.objsubid AND n.objsubid > 0
  WHERE c.relnamespace = 'public'::regnamespace AND NOT c.relispartition`;

/** Those that do not come with an identity column. */
const SEQUENCES = `
  SELECT c.relname AS name, format('CREATE SEQUENCE %s;', c.relname) AS statement
  FROM pg_class c
  WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'S'
    AND NOT EXISTS (SELECT 1 FROM pg_depend d WHERE d.objid = c.oid AND d.deptype = 'i')`;

const FUNCTIONS = `
  SELECT p.proname AS name, trim(E'\\n' FROM pg_get_functiondef(p.oid)) || ';' AS statement
  FROM pg_proc p WHERE p.pronamespace = 'public'::regnamespace`;

/** Sequences, then each table with its comments, indexes and triggers, then the functions. */
export async function describeSchema(url: string): Promise<string> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const read = async (query: string) =>
      (await client.query<Named>(`SELECT * FROM (${query}) found ORDER BY name, statement COLLATE "C"`)).rows;
    const parts = [...(await read(COMMENTS)), ...(await read(INDEXES)), ...(await read(TRIGGERS))];
    const tables = await read(TABLES);
    const groups = [
      await read(SEQUENCES),
      ...tables.map((table) => [table, ...parts.filter(({ name }) => name === table.name)]),
      ...(await read(FUNCTIONS)).map((one) => [one]),
    ];
    return groups.map((group) => group.map(({ statement }) => statement).join('\n')).join('\n\n');
  } finally {
    await client.end();
  }
}
