// A value that the database refuses costs its own card a poll, and no other card its result.
import { expect, it } from 'vitest';
import type { PollOutcome } from '../../../src/domain/results/poll-outcome.ts';
import { ResultWriter } from '../../../src/engine/results/result-writer.ts';
import { systemClock } from '../../../src/platform/clock.ts';
import type { Settlement } from '../../../src/store/ports/live/work-queue.ts';
import { addCards, describeBothRecordStores, range } from './stores.ts';

const T = 1_795_251_272_123;

describeBothRecordStores('refused results', (db) => {
  /** Hands the outcomes to a writer. @returns the cards that failed and those it reported as refused. */
  async function finish(outcomes: readonly PollOutcome[]) {
    const failed: number[] = [];
    const refused: number[] = [];
    const note = ({ item, verdict }: Settlement) => {
      if (verdict === 'failed') failed.push(item.cardId);
    };
    const writer = new ResultWriter({
      clock: systemClock,
      live: {
        work: {
          settle: async (_, settlements) => {
            settlements.forEach(note);
            return { fenced: 0 };
          },
          renew: async (_, items) => items,
        },
        failures: { note: async () => {} },
      },
      records: db.store,
      meter: { settled: () => {} },
      onWritten: async () => {},
      log: { warn: () => {}, error: ({ card_id }: { card_id: number }) => void refused.push(card_id) },
      onError: (_, error) => {
        throw error;
      },
      random: () => 0,
      writeBuffer: 10_000,
      retryBaseMs: 1_000,
      leaseMs: 15_000,
    });
    writer.reserve(outcomes.length);
    for (const outcome of outcomes) {
      const { cardId, taskType } = outcome;
      const item = { cardId, lane: 'schedule', member: String(cardId), token: '1' } as const;
      writer.finish({
        taskType,
        item,
        verdict: 'done',
        outcome,
        failure: null,
        retryCapMs: 60_000,
        waitMs: 0,
      });
    }
    await writer.stop();
    return { failed, refused };
  }

  const stopped = (cardId: number): PollOutcome => ({
    cardId,
    taskType: 'package',
    polledAtMs: T,
    stopped: true,
  });

  it.each<[string, string, string]>([
    [
      'a constraint',
      'ALTER TABLE cards ADD CONSTRAINT protected CHECK (NOT stopped OR card_id NOT IN (7, 40))',
      'ALTER TABLE cards DROP CONSTRAINT protected',
    ],
    [
      'a trigger',
      `CREATE FUNCTION protect() RETURNS trigger LANGUAGE plpgsql AS $$
       BEGIN IF NEW.card_id IN (7, 40) THEN RAISE EXCEPTION 'protected'; END IF; RETURN NEW; END $$;
       CREATE TRIGGER protected BEFORE UPDATE ON cards FOR EACH ROW EXECUTE FUNCTION protect()`,
      'DROP FUNCTION protect() CASCADE',
    ],
  ])('stay with their cards: %s', async (_, protect, release) => {
    await addCards(db.store, ...range(50));
    for (const statement of protect.split(';\n       CREATE').map((part, i) => (i ? `CREATE${part}` : part)))
      await db.sql(statement);
    try {
      expect(await finish(range(50).map(stopped))).toEqual({ failed: [7, 40], refused: [7, 40] });
    } finally {
      await db.sql(release);
    }
    const cards = await db.store.cards.byIds(range(50));
    expect(cards.filter((card) => !card.stopped).map((card) => card.cardId)).toEqual([7, 40]);
  });

  it('stay with their cards: a month that is none', async () => {
    await addCards(db.store, ...range(5));
    const next = { usedMb: 1, lastReadingMb: 1, suspectedMb: null, jump: null, readAtMs: T };
    const outcomes = range(5).map((cardId): PollOutcome => {
      const month = cardId === 3 ? '-27100-01' : '2026-11';
      return {
        cardId,
        taskType: 'carddata',
        polledAtMs: T,
        usage: { next: { ...next, month }, basedOnReadAtMs: null },
      };
    });
    expect(await finish(outcomes)).toEqual({ failed: [3], refused: [3] });
    expect(await db.sql('SELECT card_id::integer FROM card_usage ORDER BY card_id')).toEqual(
      [1, 2, 4, 5].map((card_id) => ({ card_id })),
    );
  });
});
