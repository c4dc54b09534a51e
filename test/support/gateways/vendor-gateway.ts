// What the vendors' gateways of this folder share: a server that listens, keeps cards, counts at its own side and makes
// the troubles a test asks for. What a vendor answers is in the vendor's file, written from its public description.
// Nothing here imports from src, so that a mistake of ours cannot agree with itself.
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';

export type CallKind = 'flow' | 'status' | 'realname' | 'stop' | 'start' | 'token';

export interface VendorCard {
  readonly iccid: string;
  usedBytes: number;
  stopped: boolean;
  verified: boolean;
}

export interface VendorCall {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface VendorAnswer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Text is sent as it is, anything else as JSON; absent: an empty body. */
  readonly body?: unknown;
  /** The cards of a batch call, for the gateway's own count. */
  readonly asked?: readonly string[];
}

export interface VendorTroubles {
  /** How many calls of the account are admitted within any such time; the vendor's own answer beyond. */
  limit: { readonly calls: number; readonly withinMs: number };
  /** Milliseconds between a call and its answer. A call takes effect when it arrives. */
  latencyMs: number;
  /** Milliseconds until a stop or a resume is carried out. */
  effectMs: number;
  /** Every call but those for a token is answered with this, whatever it asks. */
  instead: VendorAnswer | null;
}

export interface VendorStats {
  readonly calls: Readonly<Record<CallKind, number>>;
  readonly throttled: number;
  readonly unauthorized: number;
  /** Calls that no description mentions: another path, method or a missing field. */
  readonly misunderstood: readonly string[];
  /** When each call but those for a token arrived, refused ones included; milliseconds since the gateway started. */
  readonly arrivals: readonly number[];
  /** By iccid, each call that asked for it and was accepted. */
  readonly stops: Readonly<Record<string, number>>;
  readonly starts: Readonly<Record<string, number>>;
  /** The number of cards in each batch call. */
  readonly batches: readonly number[];
  /** By iccid, the batch calls that asked about the card. */
  readonly asked: Readonly<Record<string, number>>;
  /** The most batch calls that asked about one card at the same time. */
  readonly askedAtOnce: number;
}

export class VendorGateway {
  readonly troubles: VendorTroubles = {
    limit: { calls: Infinity, withinMs: 1_000 },
    latencyMs: 0,
    effectMs: 0,
    instead: null,
  };
  /** Cards that the vendor does not know. It knows any other. */
  readonly unknown = new Set<string>();
  /** Bytes that a card has used more at each reading. */
  growBytes = 0;
  readonly #startedAt = performance.now();
  readonly #cards = new Map<string, VendorCard>();
  readonly #orders = new Map<string, { readonly stopped: boolean; readonly at: number }>();
  readonly #calls: Record<CallKind, number> = {
    flow: 0,
    status: 0,
    realname: 0,
    stop: 0,
    start: 0,
    token: 0,
  };
  readonly #arrivals: number[] = [];
  readonly #admitted: number[] = [];
  readonly #misunderstood: string[] = [];
  readonly #stops: Record<string, number> = {};
  readonly #starts: Record<string, number> = {};
  readonly #batches: number[] = [];
  readonly #asked: Record<string, number> = {};
  readonly #beingAsked = new Map<string, number>();
  #askedAtOnce = 0;
  #throttled = 0;
  #unauthorized = 0;

  private constructor(
    readonly url: string,
    readonly close: () => Promise<void>,
  ) {}

  static async start(
    answer: (call: VendorCall, gateway: VendorGateway) => VendorAnswer,
  ): Promise<VendorGateway> {
    const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
      // A caller that is gone needs no answer.
      serve(request, response, (call) => answer(call, gateway), gateway).catch(() => response.destroy());
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const gateway = new VendorGateway(`http://127.0.0.1:${port}`, async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    });
    return gateway;
  }

  /** Counts a call with good credentials. False: the account makes too many, and the vendor says so. */
  admits(kind: CallKind): boolean {
    const now = performance.now();
    const { calls, withinMs } = this.troubles.limit;
    while (this.#admitted[0] !== undefined && this.#admitted[0] <= now - withinMs) this.#admitted.shift();
    if (this.#admitted.length >= calls) {
      this.#throttled += 1;
      return false;
    }
    this.#admitted.push(now);
    this.#calls[kind] += 1;
    return true;
  }

  /** A request for a token; it is no call of the account. */
  countToken(): void {
    this.#calls.token += 1;
  }

  arrived(): void {
    this.#arrivals.push(performance.now() - this.#startedAt);
  }

  refuseCredentials(): void {
    this.#unauthorized += 1;
  }

  misunderstand(what: string): void {
    this.#misunderstood.push(what);
  }

  /** A batch call that has arrived. @returns to be called when it is answered. */
  countBatch(cards: readonly string[]): () => void {
    this.#batches.push(cards.length);
    for (const iccid of cards) {
      this.#asked[iccid] = (this.#asked[iccid] ?? 0) + 1;
      const atOnce = (this.#beingAsked.get(iccid) ?? 0) + 1;
      this.#beingAsked.set(iccid, atOnce);
      this.#askedAtOnce = Math.max(this.#askedAtOnce, atOnce);
    }
    return () => {
      for (const iccid of cards) this.#beingAsked.set(iccid, (this.#beingAsked.get(iccid) ?? 0) - 1);
    };
  }

  /** What is true of a card now; undefined when the vendor does not know it. */
  card(iccid: string): VendorCard | undefined {
    if (this.unknown.has(iccid)) return undefined;
    let card = this.#cards.get(iccid);
    if (card === undefined) {
      card = { iccid, usedBytes: 0, stopped: false, verified: true };
      this.#cards.set(iccid, card);
    }
    const order = this.#orders.get(iccid);
    if (order !== undefined && order.at <= performance.now()) {
      card.stopped = order.stopped;
      this.#orders.delete(iccid);
    }
    return card;
  }

  /** The bytes a card has used, as a reading reports them. */
  read(card: VendorCard): number {
    card.usedBytes += this.growBytes;
    return card.usedBytes;
  }

  /** True while an order for the card is not carried out. */
  pending({ iccid }: VendorCard): boolean {
    return this.#orders.has(iccid);
  }

  /** Takes an order to stop or to resume a card. */
  order(card: VendorCard, stopped: boolean): void {
    const counts = stopped ? this.#stops : this.#starts;
    counts[card.iccid] = (counts[card.iccid] ?? 0) + 1;
    this.#orders.set(card.iccid, { stopped, at: performance.now() + this.troubles.effectMs });
  }

  stats(): VendorStats {
    return {
      calls: { ...this.#calls },
      throttled: this.#throttled,
      unauthorized: this.#unauthorized,
      misunderstood: [...this.#misunderstood],
      arrivals: [...this.#arrivals],
      stops: { ...this.#stops },
      starts: { ...this.#starts },
      batches: [...this.#batches],
      asked: { ...this.#asked },
      askedAtOnce: this.#askedAtOnce,
    };
  }
}

/** The most arrivals within any window of this length. */
export function busiest(arrivals: readonly number[], windowMs = 1_000): number {
  let most = 0;
  let first = 0;
  for (const [last, at] of arrivals.entries()) {
    while ((arrivals[first] as number) <= at - windowMs) first += 1;
    most = Math.max(most, last - first + 1);
  }
  return most;
}

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  answer: (call: VendorCall) => VendorAnswer,
  gateway: VendorGateway,
): Promise<void> {
  const { pathname, searchParams } = new URL(request.url ?? '', 'http://gateway');
  const body = await text(request);
  const { method = '', headers } = request;
  const call = { method, path: pathname, query: searchParams, headers, body };
  const { status = 200, asked, ...rest } = answer(call);
  const answered = asked === undefined ? () => {} : gateway.countBatch(asked);
  if (gateway.troubles.latencyMs > 0) await sleep(gateway.troubles.latencyMs);
  answered();
  const sent =
    rest.body === undefined || typeof rest.body === 'string' ? (rest.body ?? '') : JSON.stringify(rest.body);
  response.writeHead(status, { 'content-type': 'application/json', ...rest.headers }).end(sent);
}

/** The fields of a JSON object; null when the text is none. */
export function jsonObject(body: string): Readonly<Record<string, unknown>> | null {
  try {
    const parsed: unknown = JSON.parse(body);
    return typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)
      ? (parsed as Record<string, unknown>)
      : null;
  } catch {
    return null;
  }
}
