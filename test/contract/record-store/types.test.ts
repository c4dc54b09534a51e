// The types that the domain knows and those that the database takes are the same (migrations/0.2/0012_types.sql).
import { expect, it } from 'vitest';
import { RULE_TYPES, ruleTypeFits } from '../../../src/domain/alerts/alert-rule.ts';
import { TASK_TYPES } from '../../../src/domain/task-type.ts';
import { addCards, describeBothRecordStores } from './stores.ts';

describeBothRecordStores('types', (db) => {
  it('types of tasks', async () => {
    const rows = await db.sql('SELECT task_type FROM task_types');
    expect(rows.map((row) => row.task_type).sort()).toEqual([...TASK_TYPES].sort());
    await expect(
      db.sql(`INSERT INTO concurrency_configs (task_type, max_concurrency) VALUES ('swap', 1)`),
    ).rejects.toThrow(/concurrency_configs_task_type_fkey/);
  });

  it('types of rules, with the task types they watch', async () => {
    const rows = await db.sql('SELECT rule_type, task_type FROM rule_types');
    const fitting = RULE_TYPES.flatMap((rule) =>
      TASK_TYPES.filter((task) => ruleTypeFits(rule, task)).map((task) => `${rule} ${task}`),
    );
    expect(rows.map((row) => `${row.rule_type} ${row.task_type}`).sort()).toEqual(fitting.sort());
    await expect(
      db.sql(`INSERT INTO alert_rules
          (name, rule_type, task_type, comparison, threshold, is_enabled, notify_channels, cooldown_seconds)
        VALUES ('r', 'stop_unconfirmed', 'realname', '>', 1, true, '{}', 0)`),
    ).rejects.toThrow(/alert_rules_rule_type_fkey/);
  });

  it.each(TASK_TYPES)('each task type has a time of the last poll: %s', async (taskType) => {
    await addCards(db.store, 1);
    await db.store.results.write([{ cardId: 1, taskType, polledAtMs: 1_795_251_272_123 }]);
    const card = await db.store.cards.find('1');
    expect(card?.lastPolledAtMs).toEqual({ [taskType]: 1_795_251_272_123 });
  });
});
