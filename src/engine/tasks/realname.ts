// Task realname: reads whether the card is real-name verified (operations interface, section 1).
import type { Card } from '../../domain/cards/card.ts';
import type { Gateway } from '../../gateway/gateway.ts';
import type { Deadline, Task, TaskResult } from '../work/task.ts';

export class RealnameTask implements Task {
  readonly taskType = 'realname';

  constructor(private readonly deps: { readonly gateway: Gateway }) {}

  async poll(card: Card, deadline: Deadline): Promise<TaskResult> {
    const { value } = await this.deps.gateway.call('realname', card, deadline.remainingMs());
    const verified = value === true;
    const polled = {
      cardId: card.cardId,
      taskType: this.taskType,
      polledAtMs: deadline.nowMs(),
    } as const;
    const changed = verified !== card.realNameVerified;
    return {
      outcome: changed ? { ...polled, realNameVerified: verified } : polled,
      fields: { real_name_verified: verified },
    };
  }
}
