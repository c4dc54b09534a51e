// One card in full, lists, import and export. Used by the admin API. The next poll of a card is computed from its
// rings.

import type { Readable } from 'node:stream';
import type { Actor } from '../../domain/audit.ts';
import type { CardMembership } from '../../domain/cards/card.ts';
import { type MonthCalendar, usedInMonth } from '../../domain/cards/usage-month.ts';
import { nextDueAt } from '../../domain/schedule/phase.ts';
import { ConfigMatcher } from '../../domain/schedule/polling-config.ts';
import { perTaskType, TASK_TYPES, type TaskType } from '../../domain/task-type.ts';
import type { Clock } from '../../platform/clock.ts';
import { messageOf } from '../../platform/errors.ts';
import type { LiveStore } from '../../store/ports/live/live-store.ts';
import type { RingState } from '../../store/ports/live/rings.ts';
import type { CardFilter } from '../../store/ports/records/card-records.ts';
import type { RecordStore } from '../../store/ports/records/record-store.ts';
import type { Audit } from '../audit.ts';
import { dateOf } from '../date-of.ts';
import { findCard } from '../requirements.ts';
import { exportCards, jsonLine } from './card-file.ts';
import { type ImportFormat, type ImportOptions, importCards } from './card-import.ts';
import type { CardListReport, CardReport, ImportReport } from './card-report.ts';
import type { CardTotal } from './card-total.ts';

export type { CardFilter } from '../../store/ports/records/card-records.ts';

interface CardDependencies {
  readonly audit: Audit;
  readonly live: LiveStore;
  readonly records: RecordStore;
  readonly cardTotal: CardTotal;
  readonly clock: Clock;
  readonly calendar: MonthCalendar;
}

export class CardOperations {
  constructor(private readonly deps: CardDependencies) {}

  /** @param cardIdOrIccid digits; 18 or more are an iccid. @throws CardpollError `not_found`. */
  async show(cardIdOrIccid: string): Promise<CardReport> {
    const { records, calendar, clock } = this.deps;
    const card = await findCard(records.cards, cardIdOrIccid);
    const { usage, lastPolledAtMs, ordered: _, ...attributes } = card;
    const usageMonth = calendar.monthOf(clock.now());
    return {
      ...attributes,
      usedMbMonth: usedInMonth(usage, usageMonth),
      usageMonth,
      lastPolledAt: perTaskType((taskType) => dateOf(lastPolledAtMs[taskType])),
      nextDueAt: await this.#nextDueAt(card),
    };
  }

  /**
   * Imports cards from the bytes of a file. Rows become visible during the import; a failed or interrupted import keeps
   * them and can be repeated. @throws CardpollError `bad_data` for a file that is not readable as `format`.
   */
  async import(
    actor: Actor,
    input: Readable,
    how: Omit<ImportOptions, 'beforeFirstWrite' | 'onProgress' | 'month'>,
  ): Promise<ImportReport> {
    const { calendar, clock } = this.deps;
    const options = { ...how, month: calendar.monthOf(clock.now()) };
    if (options.dryRun === true) return importCards(this.deps.records.cards, input, options);
    // One entry before the first card is written, and one with the result. An import that writes nothing leaves no entry.
    const record = (verb: string, after: object) =>
      this.deps.audit.record(actor, { action: `cards.import.${verb}`, object: 'cards', before: null, after });
    let begun = false;
    let counted = 0;
    try {
      const report = await importCards(this.deps.records.cards, input, {
        ...options,
        beforeFirstWrite: async () => {
          await record('begin', { format: options.format });
          begun = true;
        },
        onProgress: ({ inserted }) => {
          this.deps.cardTotal.imported(inserted - counted);
          counted = inserted;
        },
      });
      const { errors: _, errorsTruncated: __, ignoredColumns: ___, ...counts } = report;
      if (begun) await record('end', counts);
      return report;
    } catch (error) {
      // The caller gets the error of the import, even if this entry cannot be written.
      if (begun) await record('failed', { error: messageOf(error) }).catch(() => {});
      throw error;
    }
  }

  /**
   * Reads the file as an import does and writes nothing.
   * @param onFormer gets the cards that the import would update, as they are: rows of an import that takes it back.
   */
  preview(
    input: Readable,
    how: Pick<ImportOptions, 'format' | 'ignoreColumns' | 'overwriteVerified'>,
    onFormer: (former: string) => Promise<void>,
  ): Promise<ImportReport> {
    const { calendar, clock, records } = this.deps;
    return importCards(records.cards, input, {
      ...how,
      dryRun: true,
      month: calendar.monthOf(clock.now()),
      onFormer: (former) => onFormer(former.map(jsonLine).join('')),
    });
  }

  /** @returns the next matching cards in id order; there may be none although more follow. */
  async list(filter: CardFilter, afterId: number, limit: number): Promise<CardListReport> {
    const { cards, nextAfterId } = await this.deps.records.cards.list(filter, afterId, limit);
    return { items: cards, nextAfterId };
  }

  /** @returns the matching cards as the text of an import file. */
  export(filter: CardFilter, format: ImportFormat): AsyncGenerator<string> {
    return exportCards(this.deps.records.cards, filter, format);
  }

  async #nextDueAt(card: CardMembership): Promise<Record<TaskType, Date | null>> {
    const [configs, rings] = await Promise.all([
      this.deps.records.configs.list(),
      this.deps.live.rings.list(),
    ]);
    const matcher = new ConfigMatcher(configs);
    const due = perTaskType<Date | null>(() => null);
    await Promise.all(
      TASK_TYPES.map(async (taskType) => {
        const config = matcher.match(taskType, card);
        const ring = rings.find((one) => one.configId === config?.id && one.taskType === taskType);
        due[taskType] = dateOf(
          await this.#dueMs(taskType, card.cardId, config?.status === 1 ? ring : undefined),
        );
      }),
    );
    return due;
  }

  /** A card in the queue or the retry lane is polled even if its config was removed; otherwise its ring decides. */
  async #dueMs(taskType: TaskType, cardId: number, ring: RingState | undefined): Promise<number | undefined> {
    const { rings, work } = this.deps.live;
    const runs = ring?.enabled === true && ring.generation > 0;
    const [{ queued, retry }, [member]] = await Promise.all([
      work.place(taskType, cardId, []),
      runs ? rings.contains(ring, [cardId]) : [false],
    ]);
    if (queued !== null) return queued.dueAtMs;
    if (retry !== null) return retry.atMs;
    return runs && member === true ? nextDueAt(ring, cardId) : undefined;
  }
}
