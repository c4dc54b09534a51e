// The link from a process to its supervisor: reports the condition every second, obeys messages, and shuts down when the
// supervisor is gone. Only the supervisor talks to the service manager.
import {
  type Condition,
  type FromProcess,
  type Numbers,
  type Overseer,
  REPORT_EVERY_MS,
  type ToProcess,
} from './messages.ts';

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

  /** @param onReload called to reload the configuration. */
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
    // This timer alone must not keep the process alive.
    channel.channel?.unref();
    setInterval(() => void this.#report(), REPORT_EVERY_MS).unref();
  }

  /** Aborted when this process must shut down. */
  get stop(): AbortSignal {
    return this.#stop.signal;
  }

  /** Problems of the other processes; only process 0 knows them. */
  get others(): { readonly problems: readonly string[]; readonly numbers: readonly Numbers[] } {
    return this.#others;
  }

  watch(condition: () => Condition): void {
    this.#condition = condition;
    void this.#report();
  }

  async reload(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } finally {
      this.#send({ kind: 'reloaded' });
    }
  }

  /** Does nothing: the supervisor asked for the stop, or sees the exit. */
  stopping(): void {}

  /** Sends the metrics of this process from now on. */
  publish(numbers: () => Promise<Numbers>): void {
    this.#numbers = numbers;
  }

  async #report(): Promise<void> {
    this.#send({ kind: 'condition', condition: this.#condition(), numbers: await this.#numbers() });
  }

  #send(message: FromProcess): void {
    // The channel closes when the supervisor exits; 'disconnect' follows.
    this.channel.send?.(message, undefined, undefined, () => {});
  }

  /** Shuts down gracefully the first time, and at once the second time, as with a second signal. */
  #orphaned(): void {
    if (this.#stop.signal.aborted) this.channel.kill(this.channel.pid, 'SIGKILL');
    else this.#stop.abort();
  }
}
