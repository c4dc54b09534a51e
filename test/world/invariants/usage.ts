import type { Invariant } from '../invariant.ts';

export const usage: Invariant = {
  name: 'usage',
  says: 'The usage of a month is what the gateway has shown of it: growth is neither lost nor counted twice.',
  watch: (world, check) => ({
    atRest: async () => {
      if (world.calmSince === null) return;
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
        const shownMb = Math.max(
          0,
          ...[...(sim?.shownPeaks ?? [])].map(([of, mb]) => (of <= month ? mb : 0)),
        );
        // A reading in another unit is not believed, so it is no growth either.
        const peak = sim?.peaks.get(month) ?? 0;
        const isFirstSim = world.cardOf.get(iccid)?.cardId === cardId && !world.exchanged.has(cardId);
        check(
          lastReadingMb <= shownMb + 0.001,
          () =>
            `card ${cardId} is recorded with a reading of ${lastReadingMb} MB, the gateway showed ${shownMb}`,
        );
        // Of a SIM that came later, the first reading is where its count begins.
        if (!isFirstSim) continue;
        check(
          usedMb <= peak + 0.001,
          () => `card ${cardId} is recorded with ${usedMb} MB, the gateway showed ${peak}`,
        );
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
