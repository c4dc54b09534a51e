// `cardpoll report`: the events of a period and what is open now, on one page, for the hand-over from one operator to the next.
import { loadTimeZone } from '../../config/load-config.ts';
import { Zone } from '../../log-search/time/zone.ts';
import { type ReaderClock, shiftPage } from '../../terminal/reports/shift-page.ts';
import { showAnswer } from '../ask.ts';
import { defineCommand } from '../command.ts';
import { PAST_TIME, pastRange } from '../past-time.ts';

export const report = defineCommand({
  name: 'report',
  summary: 'Show what happened in a time, who changed what and what is open, on one page',
  examples: [
    'cardpoll report --since 8h  # the last eight hours, which is the default',
    'cardpoll report --since 22:00 --until 06:00  # last night',
    'cardpoll report --since 22:00 -o wide  # all lines in full',
    'cardpoll report --since 22:00 -o json  # for programs',
  ],
  options: [
    {
      flags: '--since <time>',
      doc: 'start: 2h (two hours ago), 02:00, today, yesterday, or a time (default: 8h before the end)',
      kind: PAST_TIME,
    },
    { flags: '--until <time>', doc: 'end, exclusive (default: now)', kind: PAST_TIME },
  ],
  run: async (context, { options }) => {
    const { since, until } = await pastRange(context, options);
    const clock = clockOf(new Zone(await loadTimeZone(context.configInputs)), context.io.clock.now());
    return showAnswer(
      context,
      'reading what happened',
      (client) => client.shiftReport({ since, until }),
      (body, style) => shiftPage(body, style, clock),
    );
  },
});

const DAY_MS = 86_400_000;

/** Formats times as operators type them: in the configured zone. */
function clockOf(zone: Zone, nowMs: number): ReaderClock {
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
