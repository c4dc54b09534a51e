// One card in full, lists, import and export. Used by the admin API.
import type { Readable } from 'node:stream';
import type { Actor } from '../../domain/audit.ts';
import type { CardFilter } from '../../domain/cards/card-filter.ts';
import { usedInMonth } from '../../domain/cards/usage-month.ts';
import { dateOf } from '../../domain/date-of.ts';
import { ConfigMatcher } from '../../domain/schedule/polling-config.ts';
import { perTaskType, type TaskType } from '../../domain/task-type.ts';
import { messageOf } from '../../platform/errors.ts';
import type { CardListReport, CardReport, ImportFormat, ImportReport } from '../../resources/cards.ts';
import type { CardRecord } from '../../store/ports/records/card-records.ts';
import type { OperationDeps } from '../deps.ts';
import { findCard } from '../requirements.ts';
import { exportCards, jsonLine } from './card-file.ts';
import { type ChunkWriter, type ImportOptions, importCards } from './card-import.ts';
import { type CardSchedule, dueMsOf, readCardSchedules } from './card-schedule.ts';
import type { CardTotal } from './card-total.ts';

type CardDeps = Pick<OperationDeps, 'audit' | 'live' | 'records' | 'clock' | 'calendar'>;

export class CardOperations {
  constructor(private readonly deps: CardDeps & { readonly cardTotal: CardTotal }) {}

  /** @param cardIdOrIccid digits; 18 or more are an iccid. @throws CardpollError `not_found`. */
  async show(cardIdOrIccid: string): Promise<CardReport> {
    const card = await findCard(this.deps.records.cards, cardIdOrIccid);
    return this.reportOf(card, await readCardSchedules(this.deps, card));
  }

  reportOf(
    { usage, lastPolledAtMs, ...attributes }: CardRecord,
    schedules: Readonly<Record<TaskType, CardSchedule>>,
  ): CardReport {
    const usageMonth = this.month();
    return {
      ...attributes,
      usedMbMonth: usedInMonth(usage, usageMonth),
      usageMonth,
      lastPolledAt: perTaskType((taskType) => dateOf(lastPolledAtMs[taskType])),
      nextDueAt: perTaskType((taskType) => dateOf(dueMsOf(schedules[taskType], attributes.cardId))),
    };
  }

  /**
   * Imports cards from the bytes of a file. Rows become visible during the import; a failed or interrupted import keeps them and
   * can be repeated. @throws CardpollError `bad_data` for a file that is not readable as `format`.
   */
  async import(
    actor: Actor,
    input: Readable,
    how: Omit<ImportOptions, 'month' | 'matcher'>,
  ): Promise<ImportReport> {
    const { cards } = this.deps.records;
    const options = { ...how, month: this.month(), matcher: await this.#matcher() };
    if (options.dryRun === true) return importCards(cards, input, options);
    // One entry before the first card is written, and one with the result. An import that writes nothing leaves no entry.
    const record = (verb: string, after: object) =>
      this.deps.audit.record(actor, { action: `cards.import.${verb}`, object: 'cards', before: null, after });
    let begun = false;
    const kept = { inserted: 0, updated: 0 };
    const importChunk: ChunkWriter['importChunk'] = async (rows, chunkOptions) => {
      if (!begun) await record('begin', { format: options.format });
      begun = true;
      const written = await cards.importChunk(rows, chunkOptions);
      this.deps.cardTotal.imported(written.inserted);
      kept.inserted += written.inserted;
      kept.updated += written.updated;
      return written;
    };
    try {
      const report = await importCards({ importChunk }, input, options);
      const {
        errors: _,
        errorsTruncated: __,
        ignoredColumns: ___,
        doubtful: ____,
        unselected: _____,
        ...counts
      } = report;
      if (begun) await record('end', counts);
      return report;
    } catch (error) {
      // The caller gets the error of the import, even if this entry cannot be written.
      if (begun) await record('failed', { ...kept, error: messageOf(error) }).catch(() => {});
      throw error;
    }
  }

  /**
   * Reads the file as an import does and writes nothing.
   * @param onFormer gets the cards that the import would update, in their current state: rows of an import that undoes it.
   */
  async preview(
    input: Readable,
    how: Pick<ImportOptions, 'format' | 'ignoreColumns' | 'overwriteVerified'>,
    onFormer: (former: string) => Promise<void>,
  ): Promise<ImportReport> {
    const { cards } = this.deps.records;
    const importChunk: ChunkWriter['importChunk'] = async (rows, chunkOptions) => {
      const result = await cards.importChunk(rows, { ...chunkOptions, keepFormer: true });
      if (result.former.length > 0) await onFormer(result.former.map(jsonLine).join(''));
      return result;
    };
    return importCards({ importChunk }, input, {
      ...{ ...how, dryRun: true },
      ...{ month: this.month(), matcher: await this.#matcher() },
    });
  }

  async #matcher(): Promise<ConfigMatcher> {
    return new ConfigMatcher(await this.deps.records.configs.list());
  }

  /** @returns the next matching cards in id order; may be empty although more follow. */
  async list(filter: CardFilter, afterId: number, limit: number): Promise<CardListReport> {
    const { cards, nextAfterId } = await this.deps.records.cards.list(filter, afterId, limit);
    return { items: cards, nextAfterId };
  }

  /** @returns the matching cards as the text of an import file. */
  export(filter: CardFilter, format: ImportFormat): AsyncGenerator<string> {
    return exportCards(this.deps.records.cards, filter, format);
  }

  month(): string {
    const { calendar, clock } = this.deps;
    return calendar.monthOf(clock.now());
  }
}
