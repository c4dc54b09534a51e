// The live store of a world in a real Redis: the product's adapters, client and scripts, on a connection that takes the world no time.
import { EventEmitter, once } from 'node:events';
import type { AbstractConnector, Redis } from 'ioredis';
import type { Clock } from '../../../src/platform/clock.ts';
import type { LiveStore } from '../../../src/store/ports/live/live-store.ts';
import { RedisClient } from '../../../src/store/redis/client/client.ts';
import { redisLiveStore } from '../../../src/store/redis/live-store.ts';
import { TimedConnection } from '../../support/timed-redis.ts';
import { BlockingStream } from './blocking-stream.ts';
import { copyOfAll } from './snapshots.ts';
import type { LiveCopy, WorldLive } from './world-live.ts';

/** By the world's clock, which stands while Redis works. */
const DEADLINE_MS = 60_000;

/** The world that the connection works for. */
interface Host {
  now(): number;
  readonly life: string;
  /** Something happens at this instant. */
  active(): void;
  published(channel: string): void;
  /** In the place of a connection that subscribes (work-signal.ts). */
  subscriber(): EventEmitter;
}

/** The connection of a process to its Redis, for one night after the other. */
export class NightRedis {
  host: Host | null = null;
  readonly connection: Redis;
  readonly client: RedisClient;

  private constructor() {
    const stream = new BlockingStream(
      () => (this.connection as unknown as { commandQueue: { length: number } }).commandQueue.length,
      () => this.host?.active(),
    );
    this.connection = new NightConnection(this, stream);
    this.client = new RedisClient(this.connection, 'the Redis of a world', DEADLINE_MS);
  }

  /** Of a process whose standard input is a socket to an empty Redis. */
  static async open(): Promise<NightRedis> {
    const redis = new NightRedis();
    await once(redis.connection, 'ready');
    return redis;
  }
}

class NightConnection extends TimedConnection {
  constructor(
    private readonly redis: NightRedis,
    stream: BlockingStream,
  ) {
    class Connector {
      check = () => true;
      disconnect = () => {};
      connect = async () => stream;
    }
    super(
      { Connector: Connector as unknown as new () => AbstractConnector },
      {
        now: () => redis.host?.now() ?? 0,
        life: () => redis.host?.life ?? '',
        published: (channel) => redis.host?.published(channel),
      },
    );
  }

  override duplicate(): Redis {
    return this.redis.host?.subscriber() as unknown as Redis;
  }
}

export class RedisWorldLive implements WorldLive {
  #life = 0;
  readonly #subscribers = new Set<EventEmitter>();

  constructor(
    private readonly redis: NightRedis,
    private readonly clock: Pick<Clock, 'now'>,
    private readonly active: () => void,
  ) {
    this.lose(false);
  }

  open(): () => LiveStore {
    const store = redisLiveStore(this.redis.client);
    return () => store;
  }

  lose(keepsLife: boolean): void {
    if (!keepsLife) this.#begin();
    void this.redis.connection.flushall();
  }

  copy(): Promise<LiveCopy> {
    return copyOfAll(this.redis.connection);
  }

  goBackTo(putBack: LiveCopy): void {
    this.#begin();
    putBack();
  }

  close(): void {
    this.redis.host = null;
  }

  /** Another server answers from now on. */
  #begin(): void {
    this.#life += 1;
    this.redis.host = {
      now: () => this.clock.now(),
      life: lifeOf(this.clock.now(), this.#life),
      active: () => this.active(),
      published: (channel) => {
        for (const subscriber of this.#subscribers) setImmediate(() => subscriber.emit('message', channel));
      },
      subscriber: () => {
        const subscriber = new Subscriber(() => this.#subscribers.delete(subscriber));
        this.#subscribers.add(subscriber);
        return subscriber;
      },
    };
  }
}

/** Data of another world may be put back in this one: its run id must be none of this world's. */
function lifeOf(nowMs: number, life: number): string {
  return (nowMs * 1_000 + life).toString(16).padStart(40, '0');
}

/** Hears of every channel, of which WorkSignal passes on those that it has listeners for. */
class Subscriber extends EventEmitter {
  constructor(readonly disconnect: () => void) {
    super();
  }

  async subscribe(): Promise<void> {}
}
