// `cardpoll report`: the events of a period and what is open now, on one page, for the hand-over from one operator to the next.
import { shiftPage } from '../../terminal/reports/shift-page.ts';
import { showAnswer } from '../ask.ts';
import { defineCommand } from '../command.ts';
import { PAST_TIME, pastRange } from '../past-time.ts';
import { readerClock } from '../reader-clock.ts';

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
    const clock = await readerClock(context);
    return showAnswer(
      context,
      'reading what happened',
      (client) => client.shiftReport({ since, until }),
      (body, style) => shiftPage(body, style, clock),
    );
  },
});
