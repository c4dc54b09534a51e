// A connection to Redis whose other end is this process' standard input: a socket that its parent has connected. What one turn of the event
// loop writes is sent at once, and this process stands still until all of it is answered. So for a world a call takes a turn, calls are
// served in the order in which they were made, and the world hears of each before the next one.
import { EventEmitter } from 'node:events';
import { readSync, writeSync } from 'node:fs';
import { endOfReply } from './reply.ts';

/** Where Node makes an inherited socket a blocking one. */
const STDIN = 0;

/** As much of a socket as the driver uses. */
export class BlockingStream extends EventEmitter {
  readonly writable = true;
  readonly destroyed = false;
  readonly connecting = false;
  readonly remoteAddress = '127.0.0.1';
  readonly remotePort = 6379;
  /** Never 0: the client has nothing to gather. */
  readonly writableCorked = 1;
  readonly #written: Buffer[] = [];
  readonly #room = Buffer.alloc(65_536);
  #toBeHeard = 0;

  /**
   * @param unanswered how many commands wait for their answer
   * @param active something happens
   */
  constructor(
    private readonly unanswered: () => number,
    private readonly active: () => void,
  ) {
    super();
  }

  write(data: string | Buffer): boolean {
    if (this.#written.length === 0) setImmediate(() => this.#exchange());
    this.#written.push(typeof data === 'string' ? Buffer.from(data) : data);
    return true;
  }

  #exchange(): void {
    this.active();
    const all = Buffer.concat(this.#written.splice(0));
    for (let sent = 0; sent < all.length; ) sent += writeSync(STDIN, all, sent);
    let rest = Buffer.alloc(0);
    for (let left = this.unanswered() - this.#toBeHeard; left > 0; ) {
      const end = endOfReply(rest, 0);
      if (end === null) {
        rest = Buffer.concat([rest, this.#read()]);
        continue;
      }
      this.#hear(rest.subarray(0, end));
      rest = rest.subarray(end);
      left -= 1;
    }
  }

  #read(): Buffer {
    const length = readSync(STDIN, this.#room);
    if (length === 0) throw new Error('Redis has ended');
    return this.#room.subarray(0, length);
  }

  /** What follows from one reply happens before the next one is heard. */
  #hear(reply: Buffer): void {
    this.#toBeHeard += 1;
    setImmediate(() => {
      this.#toBeHeard -= 1;
      this.active();
      this.emit('data', reply);
    });
  }

  setNoDelay = () => this;
  setKeepAlive = () => this;
  setTimeout = () => this;
  resume = () => this;
  end = () => this;
  destroy = () => this;
}
