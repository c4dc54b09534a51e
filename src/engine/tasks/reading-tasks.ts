// The tasks that only read: realname (whether the card is real-name verified; operations interface, section 1) and carddata (the
// card's usage, added to the calendar month; domain/cards/usage-month.ts). Task package, which also acts, is in package.ts.
// Creates the task of a task type; the engine gives one to every worker.
import type { Card } from '../../domain/cards/card.ts';
import type { MonthCalendar } from '../../domain/cards/month-calendar.ts';
import {
  applyReading,
  counterIn,
  isImplausible,
  type UsageMonth,
  usedInMonth,
} from '../../domain/cards/usage-month.ts';
import { rounded } from '../../domain/numbers.ts';
import { growthMbPerHour } from '../../domain/results/usage-growth.ts';
import type { TaskType } from '../../domain/task-type.ts';
import type { Gateway } from '../../gateway/gateway.ts';
import type { Meter } from '../../platform/meter.ts';
import { type Deadline, polledNow, type Task, type TaskResult } from '../work/task.ts';
import { PackageTask, type PackageTaskDeps } from './package.ts';

class RealnameTask implements Task {
  readonly taskType = 'realname';

  constructor(private readonly deps: { readonly gateway: Gateway }) {}

  async poll(card: Card, deadline: Deadline): Promise<TaskResult> {
    const { value } = await this.deps.gateway.call('realname', card, deadline.remainingMs());
    const verified = value === true;
    const polled = polledNow(this.taskType, card, deadline);
    const changed = verified !== card.realNameVerified;
    return {
      outcome: changed ? { ...polled, realNameVerified: verified } : polled,
      fields: { real_name_verified: verified },
    };
  }
}

interface CarddataTaskDeps {
  readonly gateway: Gateway;
  readonly calendar: MonthCalendar;
  readonly maxMbitPerSecond: number;
  readonly meter: Pick<Meter, 'implausibleReading'>;
}

export class CarddataTask implements Task {
  readonly taskType = 'carddata';

  constructor(private readonly deps: CarddataTaskDeps) {}

  async poll(card: Card, deadline: Deadline): Promise<TaskResult> {
    const { gateway, calendar, maxMbitPerSecond } = this.deps;
    // The reading is dated by its request: an answer that crosses midnight still shows the old month.
    const atMs = deadline.nowMs();
    const { value } = await gateway.call('flow', card, deadline.remainingMs());
    const month = calendar.monthOf(atMs);
    const reading = { usedMb: Number(value), atMs, month };
    const next = applyReading(card.usage, reading, maxMbitPerSecond);
    const usedMb = usedInMonth(next ?? card.usage, month);
    const doubt = this.#doubt(card.usage, reading);
    const usageMbPerHour = growthMbPerHour(card.usage, reading);
    const counter = counterIn(card.usage, next, reading);
    const polled = { ...polledNow(this.taskType, card, deadline), polledAtMs: atMs };
    return {
      outcome:
        next === null
          ? polled
          : {
              ...polled,
              usage: { next, basedOnReadAtMs: card.usage?.readAtMs ?? null },
              overPackage: card.allowanceMb !== null && usedMb > card.allowanceMb,
            },
      fields: {
        used_mb_month: usedMb,
        usage_month: month,
        changed: next !== null,
        ...doubt,
      },
      ...(usageMbPerHour === null ? {} : { usageMbPerHour }),
      ...(doubt === null ? {} : { implausible: true as const }),
      ...(counter === null ? {} : { counter }),
    };
  }

  /** Counts a doubtful reading. @returns the log's text about it; null: the reading is believed. */
  #doubt(
    last: UsageMonth | null,
    { usedMb, atMs }: { usedMb: number; atMs: number },
  ): TaskResult['fields'] | null {
    const { maxMbitPerSecond, meter } = this.deps;
    if (last === null || !isImplausible(last, { usedMb, atMs }, maxMbitPerSecond)) return null;
    meter.implausibleReading();
    const grownMb = rounded(usedMb - last.lastReadingMb);
    const seconds = Math.round((atMs - last.readAtMs) / 1_000);
    return {
      implausible_mb: usedMb,
      reason: `not counted: ${grownMb} MB in ${seconds} s is more than ${maxMbitPerSecond} Mbit/s`,
    };
  }
}

/** The dependencies of all tasks; each task takes what it needs. */
type TaskDeps = PackageTaskDeps & CarddataTaskDeps;

const MAKERS: Readonly<Record<TaskType, (deps: TaskDeps) => Task>> = {
  realname: (deps) => new RealnameTask(deps),
  carddata: (deps) => new CarddataTask(deps),
  package: (deps) => new PackageTask(deps),
};

export function makeTask(taskType: TaskType, deps: TaskDeps): Task {
  return MAKERS[taskType](deps);
}
