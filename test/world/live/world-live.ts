// The live store of a world, which all instances share.
import type { Clock } from '../../../src/platform/clock.ts';
import type { LiveStore } from '../../../src/store/ports/live/live-store.ts';
import { openPacedLiveStore } from '../../support/virtual-pace.ts';

export type StoreKind = 'embedded' | 'redis';

/** Puts all of it in the place of what is there then. */
export type LiveCopy = () => void;

export interface WorldLive {
  /** For one more instance. @returns the store, asked before each call: one that lost its data may be another one */
  open(): () => LiveStore;
  /**
   * It is empty from now on.
   * @param keepsLife as after FLUSHALL, which a server survives; otherwise another server answers
   */
  lose(keepsLife: boolean): void;
  /** @returns the data of now, also for a later world of this process */
  copy(): Promise<LiveCopy>;
  /** Another server answers from now on, with this data. */
  goBackTo(copy: LiveCopy): void;
  close(): void;
}

/** Knows one life after each loss, and no way back. */
export class EmbeddedWorldLive implements WorldLive {
  #life = 0;
  #store: LiveStore;

  constructor(private readonly clock: Clock) {
    this.#store = this.#another();
  }

  open(): () => LiveStore {
    return () => this.#store;
  }

  lose(): void {
    this.#store = this.#another();
  }

  copy(): never {
    throw new Error('the embedded live store cannot go back in time');
  }

  goBackTo(): never {
    return this.copy();
  }

  close(): void {}

  #another(): LiveStore {
    this.#life += 1;
    const identity = `live ${this.#life}`;
    return { ...openPacedLiveStore({ clock: this.clock }), identity: async () => identity };
  }
}
