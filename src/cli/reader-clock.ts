// Formats times as operators type them: in the configured zone. Used by commands that take a time and print the times in it.
import { loadTimeZone } from '../config/load-config.ts';
import { Zone } from '../log-search/time/zone.ts';
import type { ReaderClock } from '../terminal/reports/shift-page.ts';
import type { CommandContext } from './command.ts';

const DAY_MS = 86_400_000;

export async function readerClock({ io, configInputs }: CommandContext): Promise<ReaderClock> {
  const zone = new Zone(await loadTimeZone(configInputs));
  const nowMs = io.clock.now();
  const parts = (at: string) => {
    const [date = '', time = ''] = zone.format(Date.parse(at)).split('T');
    return { date, time: time.slice(0, 'hh:mm'.length) };
  };
  return {
    zone: zone.name,
    full: (at) => `${parts(at).date} ${parts(at).time}`,
    // The time of day alone means its last occurrence.
    typed(at) {
      const { date, time } = parts(at);
      return nowMs - Date.parse(at) < DAY_MS ? time : `${date}T${time}`;
    },
    short(at, near) {
      const { date, time } = parts(at);
      return date === parts(near).date ? time : `${date.slice('yyyy-'.length)} ${time}`;
    },
  };
}
