import { Chalk } from 'chalk';
import { describe, expect, it } from 'vitest';
import { statusLine } from '../../../src/cli/commands/demo.ts';
import type { OverviewBody } from '../../../src/resources/stats.ts';
import { Style } from '../../../src/terminal/style.ts';
import { OVERVIEW } from './bodies.ts';

const style = new Style('terminal', 0, new Chalk({ level: 0 }));

interface Numbers {
  readonly health?: OverviewBody['health'];
  readonly cards?: number;
  readonly init?: OverviewBody['init']['status'];
  readonly rate?: number;
  readonly queue?: number;
  readonly success?: number | null;
  readonly reasons?: OverviewBody['health_reasons'];
}

function lineOf({
  health = 'normal',
  cards = 10_000,
  init = 'completed',
  rate = 165,
  queue = 12,
  success = 100,
  reasons = [],
}: Numbers) {
  const [task] = OVERVIEW.tasks;
  const tasks = (['realname', 'carddata', 'package'] as const).map((task_type) => ({
    ...task,
    task_type,
    rate_per_second_10s: rate,
    queue_length: queue,
    success_rate_10s: success,
  }));
  const overview = {
    ...OVERVIEW,
    health,
    health_reasons: reasons,
    cards_total: cards,
    tasks,
    init: { ...OVERVIEW.init, status: init, percent: 40.9 },
  };
  return statusLine(overview as OverviewBody, style);
}

describe('the status line', () => {
  it.each([
    [{}, '● normal  10k cards  realname 165/s q12  carddata 165/s q12  package 165/s q12\n'],
    [
      { rate: 0.25, queue: 0, success: null, cards: 500 },
      '● normal  500 cards  realname 0.3/s q0  carddata 0.3/s q0  package 0.3/s q0\n',
    ],
    [{ init: 'running' }, '● normal  init 40%  realname 165/s q12  carddata 165/s q12  package 165/s q12\n'],
    [
      { health: 'alert', success: 89.99 },
      '✖ alert  realname 165/s q12 89%  carddata 165/s q12 89%  package 165/s q12 89%\n',
    ],
  ] as const)('for %j is readable', (numbers, line) => {
    expect(lineOf(numbers)).toBe(line);
  });

  it('is followed by the worst cause and its command', () => {
    const reason = {
      code: 'avg_duration',
      task_type: 'package',
      severity: 'warning',
      since: null,
      caused_by: null,
    } as const;
    const slow = { ...reason, text: 'package: a poll takes 600 ms', command: 'cardpoll concurrency advise' };
    const lines = lineOf({ health: 'warning', reasons: [slow, { ...slow, text: 'another' }] }).split('\n');
    expect(lines.slice(1)).toEqual(['  package: a poll takes 600 ms: cardpoll concurrency advise', '']);
    expect(lineOf({ health: 'warning', reasons: [{ ...slow, command: null }] })).toMatch(/ 600 ms\n$/);
  });

  it('fits 80 columns whatever the numbers are', () => {
    for (const health of ['normal', 'warning', 'alert'] as const)
      for (const init of ['completed', 'running', 'stuck', 'pending'] as const)
        for (const cards of [1, 9_950, 99_999_999])
          for (const rate of [0, 9.94, 9.95, 999.4, 999.5, 9_949, 99_999])
            for (const queue of [0, 999, 200_000])
              for (const success of [null, 0, 99.99, 100])
                expect(lineOf({ health, init, cards, rate, queue, success }).length).toBeLessThanOrEqual(81); // with the line end;
  });
});
