// A store that a test can make stand still or fail: every call of the ports that are led through a gate waits until it is
// opened, or is refused while it is broken. What is behind the gate is whatever the test puts there.

export class Gate {
  /** Calls that were begun. */
  calls = 0;
  /** Calls that wait in front of it. */
  waiting = 0;
  #broken = false;
  #opened: Promise<void> | null = null;
  #open = () => {};

  close(): void {
    this.#opened = new Promise((resolve) => {
      this.#open = resolve;
    });
  }

  open(): void {
    this.#open();
    this.#opened = null;
  }

  break(): void {
    this.#broken = true;
  }

  mend(): void {
    this.#broken = false;
  }

  /** The same port, led through the gate; with it the ports it has. @param except calls of this name pass by. */
  around<Port extends object>(port: Port, except: string | null = null): Port {
    return new Proxy(port, {
      get: (target, key) => {
        const member: unknown = Reflect.get(target, key, target);
        if (typeof member === 'function') {
          const call = (...args: unknown[]) => member.apply(target, args);
          return key === except ? call : (...args: unknown[]) => this.#through(() => call(...args));
        }
        return typeof member === 'object' && member !== null ? this.around(member, except) : member;
      },
    });
  }

  #through(call: () => unknown): unknown {
    this.calls += 1;
    if (this.#broken) return Promise.reject(new Error('the store is broken'));
    return this.#opened === null ? call() : this.#wait(this.#opened).then(call);
  }

  async #wait(opened: Promise<void>): Promise<void> {
    this.waiting += 1;
    await opened;
    this.waiting -= 1;
  }
}
