// The mode of stops: whether cards over their package are stopped, or it is only recorded which would be. Used by the
// admin API, and by the operations that stops of the present mode allow.
import type { Actor } from '../../domain/audit.ts';
import type { StopMode } from '../../domain/stops/stop.ts';
import { CardpollError } from '../../platform/errors.ts';
import type { RecordStore } from '../../store/ports/records/record-store.ts';
import type { StopControl } from '../../store/ports/records/stop-records.ts';
import type { Audit } from '../audit.ts';
import { dated } from '../date-of.ts';
import { type ExpectedVersion, requireVersion, versionOf } from '../version.ts';
import type { StopModeReport } from './stop-reports.ts';

type Control = Pick<RecordStore, 'stopControl'>;

export class StopModeOperations {
  constructor(
    private readonly records: Control,
    private readonly audit: Audit,
    /** Mode of the settings of this instance; in force until an operator sets one. */
    private readonly setting: StopMode,
  ) {}

  async show(): Promise<StopModeReport> {
    return this.#report(this.records);
  }

  /**
   * Sets the mode for the whole fleet, in force on every instance within a second. Mode enforce also accepts a jump of
   * the readings. @throws CardpollError `conflict` when it is not in the version expected.
   */
  set(actor: Actor, mode: StopMode, reason: string, expected: ExpectedVersion): Promise<StopModeReport> {
    return this.audit.change(actor, async (records, note) => {
      const before = await this.#report(records);
      requireVersion(modeVersion(before), expected);
      await records.stopControl.setMode(mode, actor.name, reason);
      const after = await this.#report(records);
      const accepts = before.jump?.acceptedAt === null && after.jump?.acceptedAt !== null;
      note({
        action: 'stops.mode',
        object: 'stops',
        before: { mode: before.mode, source: before.source },
        after: { mode, source: after.source, reason, ...(accepts ? { acceptedJump: after.jump } : {}) },
      });
      return after;
    });
  }

  /** @throws CardpollError `conflict` while stops are only observed. */
  async requireEnforce(records: Control = this.records): Promise<void> {
    const { setMode } = await records.stopControl.read();
    if ((setMode?.mode ?? this.setting) === 'enforce') return;
    throw new CardpollError(
      'conflict',
      'stops_observed',
      'the mode of stops is observe: no card is stopped',
      { hint: 'first set the mode: cardpoll stops mode enforce --reason "..."' },
    );
  }

  async #report({ stopControl }: Control): Promise<StopModeReport> {
    const { setMode, jump } = await stopControl.read();
    return {
      ...modeOf(setMode, this.setting),
      setting: this.setting,
      jump: jump === null ? null : dated(jump),
    };
  }
}

/** @returns the version of what an operator sets; a jump of the readings begins and ends by itself. */
export function modeVersion({ mode, source, since }: StopModeReport): string {
  return versionOf([mode, source, since]);
}

function modeOf(set: StopControl['setMode'], setting: StopMode) {
  if (set === null) return { mode: setting, source: 'setting', since: null, by: null, reason: null } as const;
  return { ...dated(set), source: 'operator' as const };
}
