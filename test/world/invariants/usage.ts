import type { PollOutcome } from '../../../src/domain/results/poll-outcome.ts';
import type { Sim } from '../gateway.ts';
import type { Invariant } from '../invariant.ts';

export const usage: Invariant = {
  name: 'usage',
  says: 'The usage of a month is what the gateway has shown of it: growth is neither lost nor counted twice.',
  watch: (world, check) => ({
    store: {
      'records.results.write': ({ args: [outcomes] }) => {
        for (const { cardId, iccid, usage } of outcomes as readonly PollOutcome[]) {
          const sim = world.gateway.sims.get(iccid ?? '');
          if (usage === undefined || sim === undefined) continue;
          const { lastReadingMb, suspectedMb } = usage.next;
          const mb = Math.max(lastReadingMb, suspectedMb ?? 0);
          check(
            // A call may be answered when the month has turned that it is dated in.
            mb <= Math.max(0, ...sim.shownPeaks.values()) + 0.001,
            () => `card ${cardId} has a reading of ${mb} MB, the gateway never showed it of ${iccid}`,
          );
        }
      },
    },
    atRest: async () => {
      if (world.calmSince === null) return;
      const hasLost = world.lastReturn.at > Number.NEGATIVE_INFINITY;
      const month = world.calendar.monthOf(world.time.wall);
      const rows = await world.store.sql<{
        cardId: number;
        usedMb: number;
        lastReadingMb: number;
        iccid: string;
      }>(
        `select u.card_id, u.used_mb, u.last_reading_mb, u.iccid from card_usage u join cards c on c.card_id = u.card_id and c.iccid = u.iccid
         where u.month = '${month}-01' and u.suspected_mb is null`,
      );
      for (const { cardId, usedMb, lastReadingMb, iccid } of rows) {
        const sim = world.gateway.sims.get(iccid);
        // While it is not certain that a counter restarted when the month turned, the former one is the highest.
        const shownMb = sim === undefined ? 0 : shownIn(sim, month);
        // A reading in another unit is not believed, so it is no growth either.
        const peak = sim?.peaks.get(month) ?? 0;
        const isFirstSim = world.cardOf.get(iccid)?.cardId === cardId && !world.exchanged.has(cardId);
        check(
          lastReadingMb <= shownMb + 0.001,
          () =>
            `card ${cardId} is recorded with a reading of ${lastReadingMb} MB, the gateway showed ${shownMb}`,
        );
        // Wrong growth that a line could carry is believed (0004).
        const mostOf = (one: Sim) =>
          Math.max(one.shownMore ? shownIn(one, month) : 0, one.peaks.get(month) ?? 0) +
          world.gateway.unsureMb(one);
        const card = world.cards.get(cardId);
        // Of a SIM that came later, the first reading is where its count begins. A record store that went back has earlier SIMs of a card
        // that was removed.
        if (hasLost && !isFirstSim) continue;
        const most = isFirstSim ? sim && mostOf(sim) : card?.sims.reduce((mb, one) => mb + mostOf(one), 0);
        check(
          usedMb <= (most ?? 0) + 0.001,
          () => `card ${cardId} is recorded with ${usedMb} MB, the gateway showed ${most}`,
        );
        // A counter that lags or restarts within a month is believed a day later.
        if (!isFirstSim || sim?.shownLess || sim?.shownMore || world.nature.countersLateMs !== 0) continue;
        const unreadMb = ((sim?.mbPerHour ?? 0) * 240_000) / 3_600_000 + 0.01;
        // A counter that comes past half of what it was at once, by the first reading of a month or after a wrong answer, looks as if it had
        // not restarted, and counts from where it was (0004).
        const [formerMb = 0] = [...(sim?.peaks ?? [])].flatMap(([former, mb]) =>
          former < month ? [mb] : [],
        );
        const hiddenMb = peak >= formerMb / 2 ? formerMb : 0;
        check(
          usedMb >= peak - unreadMb - hiddenMb,
          () => `card ${cardId} is recorded with ${usedMb} MB, the gateway showed ${peak} MB minutes ago`,
        );
      }
    },
  }),
};

/** The most that was shown of a SIM up to this month. */
function shownIn({ shownPeaks }: Sim, month: string): number {
  return Math.max(0, ...[...shownPeaks].map(([of, mb]) => (of <= month ? mb : 0)));
}
