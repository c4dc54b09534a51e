// Where statements are and how they are read (CONTRIBUTING.md, "Style").
import { readdirSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, vi } from 'vitest';
import { CLEANUP_TARGETS } from '../../../../../src/domain/cleanup.ts';
import { fill, statements } from '../../../../../src/store/sql/client/statements.ts';

const STORE = fileURLToPath(new URL('../../../../../src/store', import.meta.url));

/** Whatever names or conditions are put into. Nothing else is made from parts. */
const MADE_FROM_PARTS = [
  'bounded_count.count',
  'bounded_count.estimate',
  'card_changes.between',
  'card_changes.changed',
  'card_changes.removed',
  'cleanup_step.drop',
  'cleanup_step.partitionRows',
  'cleanup_step.removeWindow',
  'cleanup_targets.alert_history',
  'cleanup_targets.audit',
  'cleanup_targets.card_removals',
  'cleanup_targets.card_resumes',
  'cleanup_targets.card_stops',
  'cleanup_targets.card_usage',
  'cleanup_targets.cleanup_runs',
  'cleanup_targets.expired',
  'cleanup_targets.manual_triggers',
  'cleanup_targets.usage_records',
  'cleanup_targets.usage_records_rows',
  'cleanup_targets.webhook_outbox',
  'missing_right.connect',
  'missing_right.functions',
  'missing_right.namedSchema',
  'missing_right.ownership',
  'missing_right.policy',
  'missing_right.schema',
  'missing_right.sequences',
  'missing_right.tables',
  'missing_right.temporary',
  'partitions.attach',
  'partitions.create',
  'partitions.detach',
  'partitions.finishDetaching',
];

/** A statement is sent by its name, in one of these forms; `slice` takes two names. */
const SENT =
  /\b(?:text|rows|run|first|one|hasRow|column|scalar|count|read|walk|decide)(?:<[^(]*>)?\(\s*'(\w+)'|\.slice\('(\w+)', '(\w+)'/g;

/** Whatever has the columns of a card. */
const WITH_COLUMNS = [
  'card_import.chunk',
  'card_import.copyNew',
  'card_import.createRows',
  'cards.byIds',
  'cards.stretch',
];

const files = ['sql', 'postgres'].flatMap((adapter) =>
  readdirSync(`${STORE}/${adapter}`, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.sql') && !/^migrations\/\d/.test(path))
    .map((path) => ({
      path: `${STORE}/${adapter}/${path}`,
      name: basename(path, '.sql'),
      text: readFileSync(`${STORE}/${adapter}/${path}`, 'utf8'),
    })),
);

/** Name, what is said of it and the statement itself, of every statement in src. */
const all = files.flatMap(({ name: file, text }) =>
  text
    .split(/^(?=-- name: )/m)
    .slice(1)
    .map((part) => {
      const [, name = '', said = ''] = /^-- name: (\S+)\n((?:--.*\n)*)/.exec(part) ?? [];
      // With the parts that it shares with others.
      const statement = statements(text).text(name.replace(/^.*\./, ''));
      return { file, name, said, statement: statement.replace(/--.*$/gm, '') };
    }),
);

describe('files of statements', () => {
  it('say what they are, and who sends them has their name', () => {
    expect(files.length).toBeGreaterThan(15);
    for (const { path, name, text } of files) {
      expect(text, name).toMatch(/^-- (?!name:)/);
      const sender = readFileSync(path.replace(/sql$/, 'ts'), 'utf8');
      expect(sender).toContain(`from './${name}.sql'`);
    }
  });

  it('name their statements, each once, after the file', () => {
    for (const { file, name } of all)
      expect(name).toMatch(new RegExp(`^${file.replaceAll('-', '_')}\\.\\w+$`));
    expect(new Set(all.map(({ name }) => name)).size).toBe(all.length);
  });

  it('have what their sender asks for, and nothing else', () => {
    for (const { path, name: file, text } of files) {
      const sender = readFileSync(path.replace(/sql$/, 'ts'), 'utf8');
      const asked = [...sender.matchAll(SENT)].flatMap(([, ...names]) => names.filter(Boolean));
      if (/\bsql\.text\((of\.)?target\)/.test(sender)) asked.push(...CLEANUP_TARGETS);
      const present = [...text.matchAll(/^-- name: \w+\.(\w+)$/gm)].map(([, name]) => name);
      expect([...new Set(asked)].toSorted(), file).toEqual(present.toSorted());
    }
  });

  it('say what each parameter is', () => {
    for (const { name, said, statement } of all) {
      const used = [...new Set([...statement.matchAll(/\$(\d+)/g)].map(([, n]) => Number(n)))];
      const described = used.filter((n) => describedIn(said).has(n));
      expect(described, `${name} says what its parameters are`).toEqual(used);
    }
  });

  it('make from parts only what no parameter can say', () => {
    const filled = all
      .filter(({ statement }) => /\{(?!attributes|import)[a-z]+\}/.test(statement))
      .map(({ name }) => name);
    expect(filled.toSorted()).toEqual(MADE_FROM_PARTS);
    const withColumns = all
      .filter(({ statement }) => /\{(\w+\.)?(\*|attributes|import)\}/.test(statement))
      .map(({ name }) => name);
    expect(withColumns.toSorted()).toEqual(WITH_COLUMNS);
  });
});

describe('statements', () => {
  const FILE =
    '-- Things.\n\n-- name: things.list\n-- Of all.\nSELECT 1\n\n-- name: things.drop\nDROP TABLE {table}\n';

  it('have the name they are prepared under, and begin with themselves', async () => {
    const sql = statements(FILE);
    const query = vi.fn(async () => []);
    await sql.on({ query }).run('list', 7, 'a');
    expect(query.mock.calls).toEqual([[{ name: 'things.list', text: 'SELECT 1' }, [7, 'a']]]);
    expect(sql.text('drop')).toBe('DROP TABLE {table}');
  });

  it('share the parts at the head of their file', () => {
    const sql = statements(
      '-- Things.\n\n-- part: fields\n-- All but the key.\na,\n  b\n\n-- part: row\nid, {fields}\n\n' +
        '-- name: things.list\nSELECT {row} FROM {table}\n\n-- name: things.add\nINSERT INTO t ({fields}) RETURNING {row}\n',
    );
    expect(sql.text('list')).toBe('SELECT id, a,\n  b FROM {table}');
    expect(sql.text('add')).toBe('INSERT INTO t (a,\n  b) RETURNING id, a,\n  b');
  });

  it('are not there under another name', () => {
    expect(() => statements(FILE).text('more')).toThrow('the file has no statement more');
  });

  it('take names where they have braces', () => {
    expect(fill(statements(FILE).text('drop'), { table: 'audit_2026_11' })).toBe('DROP TABLE audit_2026_11');
  });
});

/** `$1`, and also `$2` in `$1 to $3`. */
function describedIn(text: string): Set<number> {
  const numbers = [...text.matchAll(/\$(\d+)(?:(?: to |-)\$(\d+))?/g)];
  return new Set(
    numbers.flatMap(([, first, last]) =>
      Array.from({ length: Number(last ?? first) - Number(first) + 1 }, (_, i) => Number(first) + i),
    ),
  );
}
