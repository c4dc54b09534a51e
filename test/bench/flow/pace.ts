// The healthy pace over one revolution of the rings. Cards are spread over a revolution by a hash, so the pace differs from
// second to second by a quarter, and is the same at the same place of every revolution: what is short has to be compared
// with the same place. Used by the fleet of the flow bench.
import type { InterfaceName } from '../../../src/domain/gateway-interface.ts';

interface Sample {
  readonly atMs: number;
  readonly good: Readonly<Record<InterfaceName, number>>;
}

export class Pace {
  readonly #samples: Sample[] = [];

  add(atMs: number, good: Readonly<Record<InterfaceName, number>>): void {
    this.#samples.push({ atMs, good: { ...good } });
  }

  /** Good answers that a healthy gateway would give these interfaces in a time, which is shorter than a revolution. */
  expected(interfaces: readonly InterfaceName[], fromMs: number, toMs: number): number {
    const [first, last] = [this.#samples[0], this.#samples.at(-1)];
    if (first === undefined || last === undefined) return 0;
    const revolutionMs = last.atMs - first.atMs;
    const placeOf = (atMs: number) => (atMs - first.atMs) % revolutionMs;
    const until = (placeMs: number) => this.#countUntil(interfaces, first.atMs + placeMs);
    const [from, to] = [placeOf(fromMs), placeOf(toMs)];
    const whole = until(revolutionMs);
    return to >= from ? until(to) - until(from) : whole - until(from) + until(to);
  }

  /** Good answers from the beginning of the samples, between two of them as if they came evenly. */
  #countUntil(interfaces: readonly InterfaceName[], atMs: number): number {
    const at = Math.max(
      1,
      this.#samples.findIndex((sample) => sample.atMs >= atMs),
    );
    const [first, before, after] = [this.#samples[0], this.#samples[at - 1], this.#samples[at]];
    if (first === undefined || before === undefined || after === undefined) return 0;
    const part = (atMs - before.atMs) / (after.atMs - before.atMs);
    const count = (name: InterfaceName) =>
      before.good[name] + part * (after.good[name] - before.good[name]) - first.good[name];
    return interfaces.reduce((sum, name) => sum + count(name), 0);
  }
}
