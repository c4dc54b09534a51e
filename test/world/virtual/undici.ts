// Takes the place of undici below the gateway client: a pool of connections whose other end is the world's gateway. The client, its
// exchanges, deadlines and connections are the real ones.
import type { Dispatcher } from 'undici';

// A world has no proxy, so no connection is ever built.
export { buildConnector, errors } from 'undici';

/** Receives requests. */
export type Transport = (request: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler) => void;

const transports = new Map<string, Transport>();

/** @param origin of the gateway as one instance knows it. */
export function serve(origin: string, transport: Transport): void {
  transports.set(origin, transport);
}

export class Pool {
  readonly #transport: Transport;

  constructor(origin: string) {
    const transport = transports.get(origin);
    if (transport === undefined) throw new Error(`no gateway at ${origin}`);
    this.#transport = transport;
  }

  dispatch(request: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    this.#transport(request, handler);
    return true;
  }

  async destroy(): Promise<void> {}
}
