// Formats times as operators type them: in the configured zone. Used by commands that take a time and print the times in it.
import { loadTimeZone } from '../config/load-config.ts';
import { Zone } from '../log-search/time/zone.ts';
import type { ReaderClock } from '../terminal/reports/shift-page.ts';
import type { CommandContext } from './command.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;

export async function readerClock({ io, configInputs }: CommandContext): Promise<ReaderClock> {
  const zone = new Zone(await loadTimeZone(configInputs));
  const nowMs = io.clock.now();
  const parts = (at: string) => {
    const [date = '', time = ''] = zone.format(Date.parse(at)).split('T');
    return { date, time: time.slice(0, 'hh:mm'.length) };
  };
  /** In the hour that comes twice when clocks go back. */
  const isTwice = (at: string) => {
    const wall = (ms: number) => zone.format(ms).slice(0, 'yyyy-mm-ddThh:mm'.length);
    const ms = Date.parse(at);
    return [ms - HOUR_MS, ms + HOUR_MS].some((other) => wall(other) === wall(ms));
  };
  return {
    zone: zone.name,
    full(at) {
      const offset = isTwice(at) ? ` ${zone.format(Date.parse(at)).slice(-'+hh:mm'.length)}` : '';
      return `${parts(at).date} ${parts(at).time}${offset}`;
    },
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
