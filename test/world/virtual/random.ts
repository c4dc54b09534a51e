// The one source of randomness of a world. Everything that is drawn comes from the seed, by streams: what one stream draws does not
// depend on how often another one was asked, so that a fault that is left out changes nothing but its own effects.

/** Of a text, 32 bits. */
function hashOf(text: string): number {
  let h = 0x811c9dc5;
  for (let i = 0; i < text.length; i += 1) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193);
  return h >>> 0;
}

export class Random {
  #state: number;

  /** @param stream names what is drawn. */
  constructor(
    private readonly seed: number,
    stream: string,
  ) {
    this.#state = hashOf(`${seed} ${stream}`);
  }

  /** In [0, 1). mulberry32. */
  readonly next = (): number => {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let t = this.#state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };

  stream(name: string): Random {
    return new Random(this.seed, name);
  }

  /** A whole number below `n`. */
  below(n: number): number {
    return Math.floor(this.next() * n);
  }

  between(least: number, most: number): number {
    return least + this.below(most - least + 1);
  }

  chance(share: number): boolean {
    return this.next() < share;
  }

  oneOf<T>(all: readonly T[]): T {
    return all[this.below(all.length)] as T;
  }

  bytes(count: number): Buffer {
    return Buffer.from(Array.from({ length: count }, () => this.below(256)));
  }
}
