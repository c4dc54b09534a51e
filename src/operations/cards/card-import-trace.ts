// Records an import in the audit trail: one entry before the first card is written, and one with the result. Used by
// cards.ts. An import that writes nothing leaves no entry.
import type { Actor } from '../../domain/audit.ts';
import { messageOf } from '../../platform/errors.ts';
import type { Audit } from '../audit.ts';
import type { ImportFormat } from './card-import-format.ts';
import type { ImportReport } from './card-report.ts';

const ACTION = 'cards.import';

export class ImportTrace {
  #begun = false;

  constructor(
    private readonly audit: Audit,
    private readonly actor: Actor,
    private readonly format: ImportFormat,
  ) {}

  async begin(): Promise<void> {
    await this.#record('begin', { format: this.format });
    this.#begun = true;
  }

  async end({ errors: _, errorsTruncated: __, ignoredColumns: ___, ...counts }: ImportReport): Promise<void> {
    if (this.#begun) await this.#record('end', counts);
  }

  /** Records a failed import. Never throws: the caller reports the error of the import. */
  async fail(error: unknown): Promise<void> {
    if (this.#begun) await this.#record('failed', { error: messageOf(error) }).catch(() => {});
  }

  #record(verb: string, after: object): Promise<void> {
    return this.audit.record(this.actor, {
      action: `${ACTION}.${verb}`,
      object: 'cards',
      before: null,
      after,
    });
  }
}
