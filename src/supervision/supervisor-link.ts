// The end of a supervised process: tells its supervisor every second how it does, does what it is told, and ends when the
// supervisor is gone. For the service manager the supervisor alone speaks.
import type { Condition, Overseer } from './condition.ts';
import { type FromProcess, type Numbers, TELL_EVERY_MS, type ToProcess } from './messages.ts';

/** The part of `process` that a child with a channel has. */
export type Channel = Pick<NodeJS.Process, 'pid' | 'kill' | 'on' | 'send' | 'channel'>;

export class SupervisorLink implements Overseer {
  readonly #stop = new AbortController();
  #condition: () => Condition = () => ({ problems: ['starting'], stuck: [], status: 'starting' });
  #numbers: () => Promise<Numbers> = async () => [];
  #others: Extract<ToProcess, { kind: 'others' }> = {
    kind: 'others',
    problems: ['nothing is known of the other processes yet'],
    numbers: [],
  };

  /** @param onReload is called when the configuration is to be read anew. */
  constructor(
    readonly number: number,
    private readonly channel: Channel,
    onReload: () => void,
  ) {
    channel.on('message', (message: ToProcess) => {
      if (message.kind === 'stop') this.#stop.abort();
      else if (message.kind === 'reload') onReload();
      else this.#others = message;
    });
    channel.on('disconnect', () => this.#orphaned());
    // Work keeps the process alive, not the wish to talk about it.
    channel.channel?.unref();
    setInterval(() => void this.#tell(), TELL_EVERY_MS).unref();
  }

  /** Aborted when this process is to end in order. */
  get stop(): AbortSignal {
    return this.#stop.signal;
  }

  /** Of the other processes; known to process 0 only. */
  get others(): { readonly problems: readonly string[]; readonly numbers: readonly Numbers[] } {
    return this.#others;
  }

  watch(condition: () => Condition): void {
    this.#condition = condition;
    void this.#tell();
  }

  async reload(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } finally {
      this.#send({ kind: 'reloaded' });
    }
  }

  /** The supervisor knows: it said so, or sees the end. */
  stopping(): void {}

  /** Hands the numbers of this process over from now on. */
  publish(numbers: () => Promise<Numbers>): void {
    this.#numbers = numbers;
  }

  async #tell(): Promise<void> {
    this.#send({ kind: 'condition', condition: this.#condition(), numbers: await this.#numbers() });
  }

  #send(message: FromProcess): void {
    // The channel closes when the supervisor ends; 'disconnect' follows.
    this.channel.send?.(message, undefined, undefined, () => {});
  }

  /** In order the first time; at once when it ends already, as with a second signal. */
  #orphaned(): void {
    if (this.#stop.signal.aborted) this.channel.kill(this.channel.pid, 'SIGKILL');
    else this.#stop.abort();
  }
}
