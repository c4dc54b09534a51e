// Hears that work was added: one subscriber connection an instance, opened when somebody listens. Used by work-queue.ts.
// It reconnects and subscribes again by itself; what is published meanwhile is lost, which its listeners allow for. Its
// errors are the main connection's too, which reports them.
import type { Cluster, Redis } from 'ioredis';
import { reconnectForEver } from '../client/client.ts';

const SUBSCRIBE_AGAIN_MS = 1_000;

export class WorkSignal {
  readonly #listeners = new Map<string, Set<() => void>>();
  #subscriber: Redis | Cluster | null = null;
  #closed = false;

  constructor(private readonly connection: Redis | Cluster) {}

  /** @returns ends the listening. */
  on(channel: string, listener: () => void): () => void {
    let listeners = this.#listeners.get(channel);
    if (listeners === undefined) {
      listeners = new Set();
      this.#listeners.set(channel, listeners);
      this.#subscribe(channel);
    }
    listeners.add(listener);
    return () => listeners.delete(listener);
  }

  close(): void {
    this.#closed = true;
    if (this.#subscriber !== this.connection) this.#subscriber?.disconnect();
  }

  #subscribe(channel: string): void {
    this.#subscriber ??= this.#open();
    this.#subscriber.subscribe(channel).catch(() => {
      if (!this.#closed) setTimeout(() => this.#subscribe(channel), SUBSCRIBE_AGAIN_MS).unref();
    });
  }

  /** A cluster's client keeps a connection for subscriptions already. */
  #open(): Redis | Cluster {
    const subscriber = this.connection.isCluster ? (this.connection as Cluster) : this.#duplicate();
    subscriber.on('message', (channel: string) => {
      for (const listener of this.#listeners.get(channel) ?? []) listener();
    });
    return subscriber;
  }

  #duplicate(): Redis {
    const subscriber = (this.connection as Redis).duplicate({ maxRetriesPerRequest: null });
    subscriber.on('error', () => {});
    reconnectForEver(subscriber, () => this.#closed);
    return subscriber;
  }
}
