// A gateway of two nodes, of which one lags: each call is answered by one or the other. A month never has more than the card used in it, and
// hardly less when it ends.
import { describe, expect, it } from 'vitest';
import { MonthCalendar } from '../../../../src/domain/cards/month-calendar.ts';
import { applyReading, type UsageMonth, usedInMonth } from '../../../../src/domain/cards/usage-month.ts';

const calendar = new MonthCalendar('Asia/Shanghai');
const HOUR_MS = 3_600_000;
const FIRST = Date.parse('2026-10-10T12:00:00+08:00');
const LAST = Date.parse('2026-12-05T12:00:00+08:00');
const CARDS = 15;
const POLL_MS = 30 * 60_000;
/** What a card has used since the beginning, by hour. */
function usageByHour(next: (below: number) => number): number[] {
  const hours = (LAST - FIRST) / HOUR_MS + 1;
  const mbPerHour = next(200) / 100;
  const sums = [0];
  // Most hours have little, some have much.
  for (let i = 1; i <= hours; i += 1)
    sums.push((sums.at(-1) ?? 0) + mbPerHour * (next(20) === 0 ? 8 : next(10) / 10));
  return sums;
}

function startOf(atMs: number): number {
  return Date.parse(`${calendar.monthOf(atMs)}-01T00:00:00+08:00`);
}

class Card {
  readonly #hours: number[];
  constructor(next: (below: number) => number) {
    this.#hours = usageByHour(next);
  }

  #total(atMs: number): number {
    const hour = Math.max(0, (atMs - FIRST) / HOUR_MS);
    const [before = 0, after = before] = this.#hours.slice(Math.floor(hour));
    return before + (after - before) * (hour % 1);
  }

  /** Of the month of this time. */
  usedMb(atMs: number): number {
    return this.#total(atMs) - this.#total(startOf(atMs));
  }

  /** What the former month had used when it ended, and not so long before. It is of the new month if it is read in that (0004). */
  lateMb(atMs: number, lateMs: number): number {
    return this.#total(startOf(atMs)) - this.#total(startOf(atMs) - lateMs);
  }
}

describe.each([0.2, 3, 6, 23])('with a node that lags by %f hours', (lagHours) => {
  it.each([0.1, 0.5, 0.9])('and answers a share of %f of the calls', (share) => {
    const next = randomBelow(1_000 * lagHours + 100 * share + 7);
    let worst = 0;
    const [recorded, used] = [new Map<string, number>(), new Map<string, number>()];
    for (let at = 0; at < CARDS; at += 1) {
      const card = new Card(next);
      let last: UsageMonth | null = null;
      for (let atMs = FIRST; atMs < LAST; atMs += POLL_MS) {
        const isLate = next(100) < 100 * share;
        const usedMb = card.usedMb(isLate ? atMs - lagHours * HOUR_MS : atMs);
        const month = calendar.monthOf(atMs);
        last = applyReading(last, { usedMb, atMs, month }, 150) ?? last;
        const most = card.usedMb(atMs) + card.lateMb(atMs, lagHours * HOUR_MS + 2 * POLL_MS);
        worst = Math.max(worst, usedInMonth(last, month) - most);
        if (calendar.monthOf(atMs + POLL_MS) === month) continue;
        recorded.set(month, (recorded.get(month) ?? 0) + usedInMonth(last, month));
        used.set(month, (used.get(month) ?? 0) + card.usedMb(atMs));
      }
    }
    expect(worst).toBeLessThan(0.001);
    for (const [month, mb] of used) {
      expect(recorded.get(month)).toBeGreaterThan(0.97 * mb - 1);
    }
  });
});

function randomBelow(seed: number): (below: number) => number {
  let state = Math.floor(seed);
  return (below) => {
    state = (state * 48_271) % 2_147_483_647;
    return state % below;
  };
}
