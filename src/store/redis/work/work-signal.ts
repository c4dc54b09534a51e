// Signals that work was added: each instance has one subscriber connection, opened for the first listener. Used by
// work-queue.ts. It reconnects and subscribes again by itself. Messages published meanwhile are lost; the listeners
// allow for that. The main connection has the same errors and reports them.
import type { Cluster, Redis } from 'ioredis';
import { keepReconnecting } from '../client/client.ts';

const SUBSCRIBE_AGAIN_MS = 1_000;

export class WorkSignal {
  readonly #listeners = new Map<string, Set<() => void>>();
  #subscriber: Redis | Cluster | null = null;
  #closed = false;

  constructor(private readonly connection: Redis | Cluster) {}

  /** @returns a function that ends the listening. */
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

  /** The client of a cluster already has a connection for subscriptions. */
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
    keepReconnecting(subscriber, () => this.#closed);
    return subscriber;
  }
}
