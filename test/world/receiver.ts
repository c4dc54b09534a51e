// The receiver of webhooks: takes the place of Node's http.request. It keeps what it took, with its time and message id.
import { EventEmitter } from 'node:events';
import type { IncomingMessage, RequestOptions, request } from 'node:http';
import type { Random } from './virtual/random.ts';
import type { VirtualTime } from './virtual/time.ts';

export interface Delivery {
  readonly at: number;
  readonly messageId: string;
  readonly event: string;
  readonly alertId: number;
}

export const WEBHOOK_URL = 'http://receiver.example/hook';

export class Receiver {
  readonly taken: Delivery[] = [];
  /** Share of requests that get no good answer. */
  fails = 0;

  constructor(
    private readonly time: VirtualTime,
    private readonly random: Random,
  ) {}

  readonly request = ((_: unknown, options: RequestOptions) => {
    const call = new EventEmitter();
    const headers = options.headers as Record<string, string>;
    const fails = this.random.chance(this.fails);
    options.signal?.addEventListener('abort', () => call.emit('error', new Error('aborted')), { once: true });
    return Object.assign(call, {
      end: (body: string) => {
        this.time.after(this.random.between(5, 200), () => {
          if (options.signal?.aborted === true) return;
          if (!fails) this.#take(headers, JSON.parse(body) as Record<string, unknown>);
          const answer = Object.assign(new EventEmitter(), {
            statusCode: fails ? 500 : 204,
            headers: {},
            destroy: () => {},
          }) as unknown as IncomingMessage;
          call.emit('response', answer);
          answer.emit('end');
        });
      },
    });
  }) as unknown as typeof request;

  #take(headers: Record<string, string>, body: Record<string, unknown>): void {
    this.taken.push({
      at: this.time.now,
      messageId: String(headers['webhook-id']),
      event: String(body.event),
      alertId: Number(body.id),
    });
  }
}
