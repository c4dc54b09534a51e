// Silences hold back the notifications of alerts for a time. Used by the admin API. A silenced alert is evaluated and
// kept in the history like any other. If it still fires when the silence ends, its notification is sent then. If it
// resolves first, no notification is sent for either event. When the firing was already sent, the resolution is always
// sent.
import { SILENCE_SECONDS_BOUNDS, type SilenceScope } from '../../domain/alerts/alert-silence.ts';
import type { Actor } from '../../domain/audit.ts';
import { RECORD_ID_BOUNDS } from '../../domain/page.ts';
import type { Clock } from '../../platform/clock.ts';
import { CardpollError } from '../../platform/errors.ts';
import type { AlertRecords, NewSilence } from '../../store/ports/records/alert-records.ts';
import type { Audit } from '../audit.ts';
import { dated } from '../date-of.ts';
import { isWithin, requireWithin } from '../requirements.ts';
import type { SilenceReport } from './alert-reports.ts';

/** What to silence (at least one of the three scope fields), and either for how long or until when. */
interface SilenceFields extends SilenceScope {
  readonly seconds: number | null;
  readonly until: Date | null;
  readonly reason: string;
}

export class SilenceOperations {
  constructor(
    private readonly deps: {
      readonly records: Pick<AlertRecords, 'silences'>;
      readonly clock: Pick<Clock, 'now'>;
      readonly audit: Audit;
    },
  ) {}

  /** @returns the silences in force, in order of id. */
  async list(): Promise<SilenceReport[]> {
    return (await this.deps.records.silences.list()).map(dated);
  }

  /** @throws CardpollError `invalid`, which names each wrong field. */
  async create(actor: Actor, { seconds, until, ...silence }: SilenceFields): Promise<SilenceReport> {
    const { ruleId, ruleType, taskType } = silence;
    if (ruleId === null && ruleType === null && taskType === null) {
      throw wrong('ruleId', 'is required when neither rule_type nor task_type is given');
    }
    const ends = this.#endOf(seconds, until);
    return this.deps.audit.change(actor, async ({ alerts }, note) => {
      if (ruleId !== null && (!isWithin(RECORD_ID_BOUNDS, ruleId) || (await alerts.rule(ruleId)) === null)) {
        throw wrong('ruleId', `there is no alert rule ${ruleId}`);
      }
      const made = dated(await alerts.silences.create({ ...silence, by: actor.name, ends }));
      note({ action: 'silence.begin', object: `silence ${made.id}`, before: null, after: made });
      return made;
    });
  }

  /** Ends a silence now. @returns the silence as it was. @throws CardpollError `not_found`. */
  remove(actor: Actor, id: number): Promise<SilenceReport> {
    return this.deps.audit.change(actor, async ({ alerts }, note) => {
      const removed = isWithin(RECORD_ID_BOUNDS, id) ? await alerts.silences.remove(id) : null;
      if (removed === null) {
        throw new CardpollError(
          'not_found',
          'silence_not_found',
          `there is no silence ${id}, or it has ended`,
          { hint: '`cardpoll alerts silences` shows the ids' },
        );
      }
      const ended = dated(removed);
      note({ action: 'silence.end', object: `silence ${id}`, before: ended, after: null });
      return ended;
    });
  }

  #endOf(seconds: number | null, until: Date | null): NewSilence['ends'] {
    if (seconds !== null && until === null) {
      requireWithin(SILENCE_SECONDS_BOUNDS, { seconds });
      return { inSeconds: seconds };
    }
    if (until === null || seconds !== null) throw wrong('seconds', 'is required, or until instead of it');
    const { max } = SILENCE_SECONDS_BOUNDS;
    const ahead = (until.getTime() - this.deps.clock.now()) / 1000;
    if (ahead > 0 && ahead <= max) return { atMs: until.getTime() };
    throw wrong('until', `must be a time within the next ${max / 86_400} days`);
  }
}

function wrong(field: string, message: string): CardpollError {
  return new CardpollError('invalid', 'invalid_field', 'the silence is not valid', {
    fields: [{ field, message }],
  });
}
