// How many polls one worker may claim by the rate limits. Used by worker.ts. The worker asks for one call to look whether there
// is work, and for more once a claim used all that was granted: a grant that is held for nothing slows the others down.
import type { InterfaceName } from '../../domain/gateway-interface.ts';
import type { TaskType } from '../../domain/task-type.ts';
import type { Clock } from '../../platform/clock.ts';
import type { CallGrant, CallPace } from '../limits/call-pace.ts';

/** Shortest rest when calls are short: at high rates several calls are granted after it. */
const MIN_REST_MS = 10;
/** Longest rest when calls are short. Grants that another worker gives back are noticed within this time. */
const MAX_REST_MS = 1_000;

/** The calls that the polls of one claim may begin with. */
export class ClaimGrant {
  #left: number;

  /** @param cards that the granted calls are for. @param expiresAt monotonic clock. */
  constructor(
    readonly cards: number,
    private readonly expiresAt: number,
    private readonly clock: Pick<Clock, 'monotonic'>,
  ) {
    this.#left = cards;
  }

  get isExpired(): boolean {
    return this.clock.monotonic() > this.expiresAt;
  }

  /** Takes the call of one card, or its share of one, to be sent now. @returns false when none is left, or when it is too late. */
  spend(): boolean {
    if (this.#left < 1 || this.isExpired) return false;
    this.#left -= 1;
    return true;
  }
}

export class PollPace {
  /** Without a limit the worker asks for nothing. */
  readonly unlimited: ClaimGrant | null;
  /** When to ask again, by the monotonic clock. */
  #askAt = Number.NEGATIVE_INFINITY;
  #usedAll = false;
  #last: { readonly grant: ClaimGrant; readonly source: CallGrant } | null = null;

  /** @param pace null without a limit that counts calls to this interface. @param cardsPerCall most cards of one call. */
  constructor(
    private readonly taskType: TaskType,
    private readonly interfaceName: InterfaceName,
    private readonly pace: Pick<CallPace, 'forPolls'> | null,
    private readonly clock: Pick<Clock, 'monotonic'>,
    private readonly cardsPerCall = 1,
  ) {
    const always = Number.POSITIVE_INFINITY;
    this.unlimited = pace === null ? new ClaimGrant(always, always, clock) : null;
  }

  /** Milliseconds until another call is likely to be granted; 0 when calls are not short. */
  get restMs(): number {
    return Math.max(0, this.#askAt - this.clock.monotonic());
  }

  /** @returns calls for at most `cards` cards; for none while calls are short. */
  async ask(cards: number): Promise<ClaimGrant> {
    if (this.restMs > 0) return this.#grantOf(0);
    const source = await this.#request(this.#usedAll ? this.#callsFor(cards) : 1);
    const restMs = Math.min(MAX_REST_MS, Math.max(MIN_REST_MS, source.waitMs));
    if (source.waitMs > 0) this.#askAt = this.clock.monotonic() + restMs;
    const grant = this.#grantOf(source.calls, source.expiresAt);
    if (grant.isExpired) {
      source.giveBack(source.calls);
      return this.#grantOf(0);
    }
    this.#last = { grant, source };
    return grant;
  }

  /** Asks again when a grant expired while cards were read; otherwise slow reads would keep cards from being polled. */
  async renew(cards: number): Promise<ClaimGrant> {
    const source = await this.#request(this.#callsFor(cards));
    return this.#grantOf(source.calls, source.expiresAt);
  }

  /** Gives back the calls that a claim does not need. */
  note(grant: ClaimGrant, claimed: number): void {
    if (this.#last?.grant !== grant) return;
    const { source } = this.#last;
    this.#last = null;
    this.#usedAll = claimed >= grant.cards;
    source.giveBack(Math.max(0, source.calls - this.#callsFor(claimed)));
  }

  #callsFor(cards: number): number {
    return Math.ceil(cards / this.cardsPerCall);
  }

  #request(calls: number): Promise<CallGrant> {
    const { pace } = this;
    if (pace === null) throw new Error('a worker without a limit asked for calls');
    return pace.forPolls(this.taskType, this.interfaceName, calls);
  }

  #grantOf(calls: number, expiresAt = Number.POSITIVE_INFINITY): ClaimGrant {
    return new ClaimGrant(calls * this.cardsPerCall, expiresAt, this.clock);
  }
}
