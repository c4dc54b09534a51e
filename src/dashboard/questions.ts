// The questions at the bottom of the screen, and the changes that the answers become. A question keeps its subject, because lists
// change while the answer is typed. Used by model.ts; stop-questions.ts has the questions about stops.
import { silenceChange } from '../changes/alerts.ts';
import { intervalChange } from '../changes/configs.ts';
import { limitChange, pauseChange } from '../changes/limits.ts';
import { BadValue, duration, integer, type Kind } from '../config/kinds.ts';
import { SILENCE_SECONDS_BOUNDS } from '../domain/alerts/alert-silence.ts';
import {
  DEFAULT_PAUSE_SECONDS,
  lackOfReason,
  MAX_CONCURRENCY_BOUNDS,
  PAUSE_SECONDS_BOUNDS,
} from '../domain/limits/operator-limits.ts';
import { INTERVAL_SECONDS_BOUNDS } from '../domain/schedule/polling-config.ts';
import type { AlertBody } from '../resources/alerts.ts';
import type { ConfigBody } from '../resources/schedule.ts';
import type { OverviewBody, TaskBody } from '../resources/stats.ts';
import { seconds } from './format.ts';
import type { Question, TypedAnswer } from './state.ts';

const LENGTH = 40;

export const CARD_QUESTION: Question = {
  text: 'Card id or ICCID:',
  length: LENGTH,
  answer: (typed) =>
    /^\d{1,22}$/.test(typed) ? { card: typed } : { problem: 'a card id or an ICCID has digits only' },
};

export const FILTER_QUESTION: Question = {
  text: 'Filter, words of a row:',
  length: LENGTH,
  answer: () => ({ problem: 'the filter is in force already' }),
  isFilter: true,
};

export function limitQuestion(task: TaskBody): Question {
  const { task_type, concurrency } = task;
  const text = `New limit of ${task_type} (now ${concurrency.max}):`;
  return numberQuestion(text, integer(MAX_CONCURRENCY_BOUNDS), (to) =>
    to === concurrency.max ? { problem: `it is ${to} already` } : limitChange(task, to),
  );
}

export function pauseQuestion(task: TaskBody, overview: OverviewBody): Question {
  const text = `Pause ${task.task_type} for how long (90s, ${seconds(DEFAULT_PAUSE_SECONDS)}, 2h):`;
  return numberQuestion(text, duration('s', PAUSE_SECONDS_BOUNDS), (length) => {
    // The command begins the line, which may be cut.
    const lack = lackOfReason(task.task_type, length, '');
    if (lack !== null) return { problem: `more than 1h needs a reason: ${lack.command}` };
    return pauseChange(
      { taskType: task.task_type, cards: task.scheduled_cards, seconds: length, reason: '' },
      overview.pauses,
      Date.parse(overview.generated_at),
    );
  });
}

export function silenceQuestion(alert: AlertBody): Question {
  const text = `Silence "${alert.rule_name}" for how long (90s, 1h, 2d):`;
  return numberQuestion(text, duration('s', SILENCE_SECONDS_BOUNDS), (length) =>
    silenceChange(alert, length),
  );
}

export function intervalQuestion(config: ConfigBody): Question {
  const { id, interval_seconds: from } = config;
  const text = `New interval of config ${id} (now ${seconds(from)}; 900, 15m):`;
  return numberQuestion(text, duration('s', INTERVAL_SECONDS_BOUNDS), (to) =>
    to === from ? { problem: `it is ${seconds(to)} already` } : intervalChange(config, to),
  );
}

function numberQuestion(text: string, kind: Kind<number>, then: (value: number) => TypedAnswer): Question {
  const answer = (typed: string) => {
    try {
      return then(kind.parse(typed));
    } catch (error) {
      if (error instanceof BadValue) return { problem: error.message };
      throw error;
    }
  };
  return { text, length: LENGTH, answer };
}
