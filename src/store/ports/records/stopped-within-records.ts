// Port section of record-store.ts: cards that cardpoll stopped for their usage and that are now within their package. The rule is
// in src/domain/orders/stopped-within.ts. `stops.sweep` finds them on the walk over all cards.

interface StoppedWithin {
  /** Up to OVER_RUNNING_COUNTED. */
  readonly count: number;
  /** When the last walk over all cards ended. */
  readonly atMs: number;
  /** The first of them. */
  readonly cardIds: readonly number[];
}

export interface StoppedWithinRecords {
  /**
   * @returns the cards that no run resumes already: neither directly nor, for stops of an earlier month, the run of the new
   * month; null: no walk of this month has ended yet.
   */
  counted(): Promise<StoppedWithin | null>;
  /** Judges these cards: call after they changed. @param month the current one, YYYY-MM */
  judge(cardIds: readonly number[], month: string): Promise<void>;
  /**
   * @returns cards that match now, in order of id. @param month the current one, YYYY-MM @param carrierId null: of all carriers
   */
  cards(month: string, carrierId: number | null, most: number): Promise<readonly number[]>;
  /**
   * One step over the list: call again with the last card id. @param month the current one, YYYY-MM @param pauseMs how long a
   * card is skipped after an attempt @returns the cards that a reading confirms and that cardpoll may resume by itself;
   * `lastCardId` null: it reached the end.
   */
  confirmed(
    month: string,
    afterCardId: number,
    limit: number,
    pauseMs: number,
  ): Promise<{ readonly lastCardId: number | null; readonly cardIds: readonly number[] }>;
  /** Call when these cards were put into a run. */
  noteTried(cardIds: readonly number[]): Promise<void>;
}
