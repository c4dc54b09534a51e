// `cardpoll plan`: the requirements of a fleet of another size, or with other intervals. The daemon computes them.

import { duration, type Kind, listOf, refuse, shown, textOf, within } from '../../config/kinds.ts';
import { INTERVAL_SECONDS_BOUNDS } from '../../domain/schedule/polling-config.ts';
import { TASK_TYPES, type TaskType } from '../../domain/task-type.ts';
import { grouped } from '../../domain/words.ts';
import { planText } from '../../terminal/reports/plan-text.ts';
import { showAnswer } from '../ask.ts';
import { defineCommand } from '../command.ts';

/** The daemon's limit for all cards. */
const MOST_CARDS = 1_000_000_000;

interface PlannedCards {
  /** null: the number is `add`. */
  readonly cards: number | null;
  readonly add: number | null;
}

const CARDS: Kind<PlannedCards> = {
  accepts: `number of cards, or +N or -N from the present number, up to ${grouped(MOST_CARDS)}`,
  parse: (raw) => {
    const text = textOf(raw);
    if (!/^[+-]?\d+$/.test(text)) refuse(`${shown(raw)} is not a number of cards, +N or -N`);
    const number = Number(text);
    if (Math.abs(number) > MOST_CARDS) refuse(`${text} is out of bounds (up to ${MOST_CARDS} cards)`);
    return /^\d/.test(text) ? { cards: number, add: null } : { cards: null, add: number };
  },
};

const SECONDS = duration('s', INTERVAL_SECONDS_BOUNDS);

const INTERVAL: Kind<{ readonly taskType: TaskType; readonly seconds: number }> = {
  accepts: 'TASK=INTERVAL, such as carddata=10m',
  parse: (raw) => {
    const [name, interval = '', ...more] = textOf(raw).split('=');
    const taskType = TASK_TYPES.find((one) => one === name);
    if (taskType === undefined || interval === '' || more.length > 0)
      return refuse(`${shown(raw)} is not like carddata=10m (${TASK_TYPES.join(', ')})`);
    return { taskType, seconds: within(taskType, () => SECONDS.parse(interval)) };
  },
};

export const plan = defineCommand({
  name: 'plan',
  summary: 'Show what more cards or other intervals would take, from measured figures',
  examples: [
    'cardpoll plan --cards +2000000  # two million cards more',
    'cardpoll plan --cards +2000000 --interval carddata=10m  # and other intervals',
    'cardpoll plan --interval realname=2h --interval package=1h  # the present cards',
    'cardpoll plan --cards 5000000 -o json  # five million cards in all, for programs',
  ],
  options: [
    { flags: '--cards <n>', doc: `${CARDS.accepts} (default: as many as there are)`, kind: CARDS },
    {
      flags: '--interval <task=interval>',
      doc: 'interval of all enabled configs of a task type, such as carddata=10m; may be repeated',
      kind: listOf(INTERVAL),
      repeats: true,
    },
  ],
  run: (context, { options: { cards, interval = [] } }) => {
    const intervals = interval.map(({ taskType, seconds }) => `${taskType}:${seconds}`).join(',');
    return showAnswer(
      context,
      'reading what was measured',
      (client) => client.plan(cards?.cards ?? null, cards?.add ?? null, intervals === '' ? null : intervals),
      planText,
    );
  },
});
