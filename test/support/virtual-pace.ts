// Grants of gateway calls in the time of a test, in place of Redis: the embedded stores have no rate limits. Each limit is a token
// bucket that task types share fairly. src/store/redis/limits/pace-take.lua has the same rules; the contract suite of the pace
// runs against both.
import { bucketOf, countsCalls, type PaceBucket } from '../../src/domain/limits/rate-limit.ts';
import type { Clock } from '../../src/platform/clock.ts';
import { openEmbeddedLiveStore } from '../../src/store/memory/live-store.ts';
import type { LiveStore } from '../../src/store/ports/live/live-store.ts';
import {
  ASKS_EVERY_MS,
  isAwaited,
  LIMIT_KEPT_MS,
  type Pace,
  type PaceLimit,
  type PaceParticipant,
  type PaceState,
  type PaceTurn,
  TURN_KEPT_MS,
} from '../../src/store/ports/live/pace.ts';
import { CLOCK_STEP_MS } from '../../src/store/ports/live/work-queue.ts';

const MOST_LIFE_MS = 500;

/** Silence for longer cannot be told from a step of the clock: the bucket is empty after it. */
const SILENT_MS = 3_000;
const RETURNS_KNOWN = 16;
const [FIRST, SECOND] = [Number.NEGATIVE_INFINITY, -1e300];

interface Share extends PaceTurn {
  /** How much the participant got, in the count of start-time fair queueing. */
  tag: number;
}

interface Offer {
  readonly got: number;
  /** How many tokens there must be until the next one is the participant's. */
  readonly needed: number;
}

/** The embedded live store, with rate limits. */
export function openPacedLiveStore(options: { clock: Clock }): LiveStore {
  return { ...openEmbeddedLiveStore(options), pace: virtualPace(options.clock) };
}

function virtualPace(clock: Pick<Clock, 'now'>): Pace {
  const buckets = new Map<string, PaceLimitState>();

  function refill(nowMs: number): void {
    for (const [id, limit] of buckets) {
      if (limit.isForgotten(nowMs)) buckets.delete(id);
      else limit.refill(nowMs);
    }
  }

  return {
    async take({ participant, interfaceName, calls, limits }) {
      const nowMs = clock.now();
      for (const limit of limits) {
        const known = buckets.get(limit.id) ?? new PaceLimitState(limit, nowMs);
        known.see(limit, nowMs);
        buckets.set(limit.id, known);
      }
      refill(nowMs);
      const counting = [...buckets.values()]
        .filter(({ inForce }) => countsCalls(inForce, interfaceName))
        .map((limit) => ({ limit, offer: limit.offer(participant, calls, nowMs) }));
      const granted = Math.min(calls, ...counting.map(({ offer }) => offer.got));
      const waits = counting.map(({ limit, offer }) =>
        limit.grant(participant, calls, granted, offer, nowMs),
      );
      return {
        calls: granted,
        waitMs: Math.max(0, ...waits),
        lifeMs: Math.floor(Math.min(MOST_LIFE_MS, ...counting.map(({ limit }) => limit.bucket.lifeMs))),
        receipt: counting.flatMap(({ limit }) => [limit.inForce.id, String(limit.taken)]),
      };
    },

    async giveBack({ participant }, { receipt }, calls) {
      refill(clock.now());
      for (let i = 0; i < receipt.length; i += 2) {
        buckets.get(receipt[i] as string)?.giveBack(participant, calls, Number(receipt[i + 1]));
      }
    },

    async states() {
      const nowMs = clock.now();
      const states = [...buckets.values()]
        .filter((limit) => !limit.isForgotten(nowMs))
        .map((limit) => limit.state(nowMs));
      return states.sort((a, b) => (a.id < b.id ? -1 : 1));
    },
  };
}

/** One rate limit: a token bucket that task types share fairly. */
class PaceLimitState {
  inForce: PaceLimit;
  bucket: PaceBucket;
  taken = 0;
  #level = 0;
  #virtual = 0;
  /** Urgent polls, which come before the others, got a call since another poll did. */
  #yields = false;
  #atMs: number;
  #seenMs: number;
  readonly #heldAt = { perSecond: Number.NEGATIVE_INFINITY, burst: Number.NEGATIVE_INFINITY };
  readonly #shares = new Map<PaceParticipant, Share>();
  readonly #returned: number[] = [];

  constructor(limit: PaceLimit, nowMs: number) {
    this.inForce = limit;
    this.bucket = bucketOf(limit);
    this.#atMs = nowMs;
    this.#seenMs = nowMs;
  }

  isForgotten(nowMs: number): boolean {
    return Math.abs(nowMs - this.#seenMs) > LIMIT_KEPT_MS;
  }

  /** The strictest value of the last ten seconds is in force. */
  see(limit: PaceLimit, nowMs: number): void {
    this.#seenMs = nowMs;
    for (const name of ['perSecond', 'burst'] as const) {
      const isOld = Math.abs(nowMs - this.#heldAt[name]) > LIMIT_KEPT_MS;
      if (limit[name] > this.inForce[name] && !isOld) continue;
      this.inForce = { ...this.inForce, [name]: limit[name] };
      this.#heldAt[name] = nowMs;
    }
    this.bucket = bucketOf(this.inForce);
  }

  refill(nowMs: number): void {
    const passed = nowMs - this.#atMs;
    this.#atMs = nowMs;
    const isStep = passed > SILENT_MS || passed < -CLOCK_STEP_MS;
    const level = this.#level + Math.max(0, passed) * this.bucket.perMs;
    this.#level = isStep ? 0 : Math.min(this.bucket.capacity, level);
  }

  /**
   * Hands the tokens out one by one, each to the waiting participant that got least. At most half of the bucket is kept
   * for task types that ask late: tokens that come while it is full are lost.
   */
  offer(participant: PaceParticipant, wanted: number, nowMs: number): Offer {
    const me = { name: participant, tag: this.#share(participant, nowMs).tag, want: wanted };
    const rivals = [...this.#shares]
      .filter(([name, share]) => name !== participant && isAwaited(share, nowMs))
      .map(([name, { tag, want }]) => ({ name, tag, want }));
    let yields = this.#yields;
    const rank = ({ name, tag }: typeof me) => {
      if (name === 'follow_up') return FIRST;
      return name === 'order' && !yields ? SECOND : tag;
    };
    const mostKept = Math.ceil(this.bucket.capacity / 2);
    let got = 0;
    let handed = 0;
    while (got < wanted) {
      let next = me;
      for (const rival of rivals) {
        const isKept = rival.want > 0 && (handed - got < mostKept || rank(rival) <= SECOND);
        if (isKept && rank(rival) < rank(next)) next = rival;
      }
      handed += 1;
      if (next === me) {
        if (handed > this.#level + 1e-9) return { got, needed: handed };
        got += 1;
      }
      next.tag += 1;
      next.want -= 1;
      if (next.name !== 'follow_up') yields = next.name === 'order';
    }
    return { got, needed: 0 };
  }

  /** Grants calls of an offer. @returns how long to wait for the next one. */
  grant(participant: PaceParticipant, wanted: number, granted: number, offer: Offer, nowMs: number): number {
    const mine = this.#share(participant, nowMs);
    let waitMs = 0;
    if (granted === wanted) {
      // Another instance may wait for more.
      mine.want = isAwaited(mine, nowMs) ? Math.max(0, mine.want - granted) : 0;
    } else if (offer.got > granted) {
      // Another limit is short: tokens of this one must not be kept meanwhile.
      mine.want = 0;
    } else {
      mine.want = wanted - granted;
      waitMs = Math.ceil((offer.needed - this.#level) / this.bucket.perMs);
      mine.till = nowMs + Math.min(waitMs, ASKS_EVERY_MS) + TURN_KEPT_MS;
    }
    if (granted > 0) {
      this.#virtual = Math.max(this.#virtual, mine.tag);
      mine.tag += granted;
      this.#level = Math.max(0, this.#level - granted);
      this.taken += granted;
      if (participant !== 'follow_up') this.#yields = participant === 'order';
    }
    return waitMs;
  }

  /** @param taken the count after the grant of which calls are given back. */
  giveBack(participant: PaceParticipant, calls: number, taken: number): void {
    if (taken > this.taken || this.#returned.includes(taken)) return;
    this.#returned.push(taken);
    if (this.#returned.length > RETURNS_KNOWN) this.#returned.shift();
    const room = this.bucket.capacity - this.#level - (this.taken - taken);
    this.#level += Math.max(0, Math.min(calls, room));
    const share = this.#shares.get(participant);
    if (share !== undefined) share.tag -= calls;
  }

  state(nowMs: number): PaceState {
    const waiting = [...this.#shares].filter(([, share]) => isAwaited(share, nowMs)).map(([name]) => name);
    return { ...this.inForce, granted: this.taken, waiting: waiting.sort() };
  }

  /**
   * A participant that does not wait starts at the tag of the last grant, less a full bucket: it may have been late, but
   * cannot claim more of what it did not want.
   */
  #share(participant: PaceParticipant, nowMs: number): Share {
    const share = this.#shares.get(participant) ?? { tag: 0, want: 0, till: 0 };
    this.#shares.set(participant, share);
    if (!isAwaited(share, nowMs)) share.tag = Math.max(share.tag, this.#virtual - this.bucket.capacity);
    return share;
  }
}
