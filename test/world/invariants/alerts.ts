import type { Invariant } from '../invariant.ts';

export const alerts: Invariant = {
  name: 'alerts',
  says: 'An alert resolves once after it fired, before its rule fires again; its webhooks come in this order.',
  watch: (world, check) => ({
    atRest: async () => {
      if (world.calmSince === null) return;
      const rows = await world.store.sql<{
        ruleId: number;
        id: number;
        firedAtMs: number;
        resolvedAtMs: number | null;
      }>('select rule_id, id, fired_at, resolved_at from alert_history order by rule_id, id');
      for (const [i, { ruleId, id, resolvedAtMs }] of rows.entries()) {
        const next = rows[i + 1];
        const isOver = next?.ruleId !== ruleId || resolvedAtMs !== null;
        check(isOver, () => `rule ${ruleId} fired again while its alert ${id} was open`);
      }
      const first = new Map<string, number>();
      for (const { alertId, event, at } of world.receiver.taken)
        if (!first.has(`${event} ${alertId}`)) first.set(`${event} ${alertId}`, at);
      for (const { id, resolvedAtMs } of rows) {
        const [fired, resolved] = [first.get(`alert.fired ${id}`), first.get(`alert.resolved ${id}`)];
        check(
          resolved === undefined || resolvedAtMs !== null,
          () => `alert ${id} was told as resolved, and is not`,
        );
        check(
          resolved === undefined || fired === undefined || fired <= resolved,
          () => `alert ${id} was told as resolved before it was told as fired`,
        );
      }
    },
  }),
};
