import type { Invariant } from '../invariant.ts';

const TOLD_WITHIN_MS = 60_000;
/** The window of a success rate, and the minute for which it has to be good. */
const RESOLVED_WITHIN_MS = 400_000;
const GOOD_PERCENT = 90;

export const alerts: Invariant = {
  name: 'alerts',
  says: 'An alert fires with a value past its threshold, and resolves once after it fired, before its rule fires again; both are told once all is well, in this order. What is recorded as delivered was taken. A success rate that is good again resolves its alert.',
  watch: (world, check) => ({
    atRest: async () => {
      if (world.calmSince === null) return;
      const rows = await world.store.sql<{
        ruleId: number;
        id: number;
        firedAtMs: number;
        resolvedAtMs: number | null;
        value: number;
        comparison: string;
        threshold: number;
        thresholdNow: number | null;
      }>(
        `select h.rule_id, h.id, h.fired_at, h.resolved_at, h.value, h.comparison, h.threshold, r.threshold as threshold_now
         from alert_history h left join alert_rules r on r.id = h.rule_id order by h.rule_id, h.id`,
      );
      for (const [i, row] of rows.entries()) {
        const { ruleId, id, resolvedAtMs } = row;
        const { value, comparison, threshold } = row;
        check(
          comparison === '>' ? value > threshold : value < threshold,
          () => `alert ${id} fired with ${value}, which is not ${comparison} ${threshold}`,
        );
        const next = rows[i + 1];
        // Polls of the cards that the gateway does not know fail for good.
        const isGoodAgain =
          comparison === '<' &&
          Number(row.thresholdNow ?? 100) <= GOOD_PERCENT &&
          world.time.now - world.calmSince > RESOLVED_WITHIN_MS;
        check(
          !isGoodAgain || resolvedAtMs !== null,
          () => `alert ${id} is open, and ${GOOD_PERCENT} % of the polls have succeeded for minutes`,
        );
        const isOver = next?.ruleId !== ruleId || resolvedAtMs !== null;
        check(isOver, () => `rule ${ruleId} fired again while its alert ${id} was open`);
      }
      const taken = new Set(world.receiver.taken.map(({ messageId }) => messageId));
      const delivered = await world.store.sql<{ id: number; messageId: string }>(
        "select id, message_id from webhook_outbox where status = 'delivered'",
      );
      for (const { id, messageId } of delivered)
        check(
          taken.has(`msg_${messageId}`),
          () => `message ${id} is recorded as delivered, and nobody took it`,
        );
      // A record store that went back gives the numbers of lost alerts to others.
      const isKnown = (at: number) => at > world.lastReturn.at;
      const first = new Map<string, number>();
      for (const { alertId, event, at } of world.receiver.taken)
        if (isKnown(at) && !first.has(`${event} ${alertId}`)) first.set(`${event} ${alertId}`, at);
      for (const { id, firedAtMs, resolvedAtMs } of rows) {
        const [fired, resolved] = [first.get(`alert.fired ${id}`), first.get(`alert.resolved ${id}`)];
        check(
          resolved === undefined || resolvedAtMs !== null,
          () => `alert ${id} was told as resolved, and is not`,
        );
        check(
          resolved === undefined || fired === undefined || fired <= resolved,
          () => `alert ${id} was told as resolved before it was told as fired`,
        );
        const since = (at: number) => at - world.time.epochMs;
        const isDue = (at: number) => isKnown(since(at)) && since(at) > (world.calmSince ?? 0);
        if (isDue(firedAtMs) && world.time.now - since(firedAtMs) > TOLD_WITHIN_MS)
          check(fired !== undefined, () => `alert ${id} was not told as fired`);
        if (
          resolvedAtMs !== null &&
          isDue(resolvedAtMs) &&
          world.time.now - since(resolvedAtMs) > TOLD_WITHIN_MS
        )
          check(resolved !== undefined, () => `alert ${id} was not told as resolved`);
      }
    },
  }),
};
