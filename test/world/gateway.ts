// The gateway of a world: what it knows of every SIM is the truth that invariants compare with. It answers as the weather says, which
// faults change: late, with refusals, with broken connections, with answers of before or for another card.
import type { Dispatcher } from 'undici';
import type { InterfaceName } from '../../src/domain/gateway-interface.ts';
import type { Instance } from './instance.ts';
import type { OutsideTime } from './outside.ts';
import type { Random } from './virtual/random.ts';

const HOUR_MS = 3_600_000;
/** From one reading to the next. */
const READ_WITHIN_MS = 240_000;
/** An effect comes within the deadline of its call (5 s), but for stops and resumes that are late. */
const LATEST_EFFECT_MS = 4_500;
/** Within the lease of the claim (15 s), or a lost call could change a card a day later. */
const LATE_EFFECT_MS = 12_000;
/** The gateway ends a connection that it did not answer on. */
const GIVES_UP_MS = 6_500;
const MB_PER_HOUR_MOST = 60;
/** Used when the world begins. What a SIM of little usage has used in a month, it may use in minutes of the next one. */
const MOST_MB = 200;
const LITTLE_MB = 5;
const LITTLE_SHARE = 0.2;
/** Wrong values are shown from here on. */
const WRONG_FROM_MB = 2;
/** From here on, 1,024 times the usage is more than a line carries in twenty minutes. Less could be true, and is believed. */
const PLAIN_FROM_MB = 25;

const INTERFACE_OF: Readonly<Record<string, InterfaceName>> = {
  '/card/realname': 'realname',
  '/card/flow': 'flow',
  '/card/status': 'card_status',
  '/card/stop': 'stop',
  '/card/start': 'start',
  '/cards/flow': 'flow',
};
/** What it has in the place of a SIM's number, where it knows SIMs by ids of its own. */
const VENDOR_ID = 'sim-';

export interface Sim {
  readonly iccid: string;
  readonly mbPerHour: number;
  usedMb: number;
  /** Since when `usedMb` grew no more: it is brought up when it is asked for. */
  at: number;
  month: string;
  /** What the gateway counts, which may restart before or after the month turns, or within it. */
  counterMb: number;
  counterMonth: string;
  /** It was shown with more, or less, than its counter, or its counter restarted within a month. */
  shownMore: boolean;
  shownLess: boolean;
  stopped: boolean;
  verified: boolean;
  /** The gateway does not know it, and never will. */
  isUnknown: boolean;
  /** The record store has a reading of it: with nothing to compare it with, a first one in another unit is believed. */
  isRecorded: boolean;
  /** As the gateway answered last, by interface: what a stale answer shows. */
  readonly shown: Map<InterfaceName, unknown>;
  /** The most that was shown of each month, MB: in the right unit, and as it was shown. */
  readonly peaks: Map<string, number>;
  readonly shownPeaks: Map<string, number>;
}

export interface Call {
  readonly id: number;
  readonly instance: string;
  readonly name: InterfaceName;
  readonly iccid: string;
  readonly at: number;
  /** The first card of a request. */
  readonly isFirst: boolean;
  /** Leases were lost with the live store's data, so this call is not counted by any. */
  forgiven: boolean;
}

/** How the gateway is at present; shares are of calls, 0 to 1. */
export interface Weather {
  latencyMs: readonly [number, number];
  slowShare: number;
  slowMs: number;
  /** Connections break before, or after, the effect of a call. */
  lostBefore: number;
  lostAfter: number;
  /** Answers with another code than success. */
  refused: number;
  throttled: number;
  retryAfterSeconds: number | null;
  silent: number;
  /** Answers of an earlier moment. */
  stale: number;
  /** Answers about another card. */
  otherCard: number;
  /** Stops and resumes have no answer in time, and take effect later. */
  late: number;
  /** Interfaces that are dead. */
  readonly dead: Set<InterfaceName>;
  /** Usage is shown in another unit. */
  unit: number;
}

/** Readings that are wrong for as long as this is there. */
export interface WrongValues {
  isOf(sim: Sim): boolean;
  /** Only one node of two shows them; each call comes to one of these by chance. */
  readonly byNode: boolean;
  /** They grow too fast, all of them, for as long as counters are of this month. */
  readonly growsIn?: string;
  shows(mb: number, sim: Sim): number;
}

/** What becomes of one call, whatever the weather. */
export interface Fate {
  /** Its answer takes so long. */
  readonly takesMs?: number;
  /** It has no effect, and this answer. */
  readonly fails?: 'reset' | { readonly retryAfterSeconds: number };
  /** What happens when it has reached the gateway. */
  readonly meanwhile?: () => void;
}

export const FAIR: Omit<Weather, 'dead'> = {
  latencyMs: [20, 80],
  slowShare: 0,
  slowMs: 0,
  lostBefore: 0,
  lostAfter: 0,
  refused: 0,
  throttled: 0,
  retryAfterSeconds: null,
  silent: 0,
  stale: 0,
  otherCard: 0,
  late: 0,
  unit: 1,
};

export interface GatewayWatcher {
  /** A request reached the gateway. */
  called?(call: Call): void;
  /** It has its answer, or its connection has ended. */
  ended?(call: Call, answered: boolean): void;
  /** An instance has a good answer about the right card. */
  answered?(call: Call): void;
  /** What a call was to change is changed. */
  tookEffect?(call: Call, sim: Sim): void;
}

export class WorldGateway {
  readonly sims = new Map<string, Sim>();
  readonly weather: Weather = { ...FAIR, dead: new Set() };
  readonly inFlight = new Set<Call>();
  readonly watchers: GatewayWatcher[] = [];
  readonly wrong = new Set<WrongValues>();
  calls = 0;
  readonly #nodes: Random;
  readonly #fates = new Map<string, Fate>();

  constructor(
    private readonly time: OutsideTime,
    private readonly random: Random,
    private readonly monthOf: (atMs: number) => string,
    /** Its counters restart so long after the month turns; negative: before. */
    private readonly countersLateMs = 0,
  ) {
    this.#nodes = random.stream('nodes');
  }

  addSim(iccid: string): Sim {
    const month = this.monthOf(this.time.wall);
    const mbPerHour = this.random.below(MB_PER_HOUR_MOST);
    const usedMb = this.random.below(this.random.chance(LITTLE_SHARE) ? LITTLE_MB : MOST_MB);
    const { counterMonth } = this;
    // It may have restarted before the night.
    const counterMb = counterMonth > month ? 0 : usedMb;
    const sim: Sim = {
      ...{ iccid, mbPerHour, month, usedMb, at: this.time.wall },
      ...{ counterMb, counterMonth, shownMore: false, shownLess: false },
      ...{ stopped: false, verified: this.random.chance(0.8), isRecorded: false, shown: new Map() },
      isUnknown: false,
      ...{ peaks: new Map(), shownPeaks: new Map() },
    };
    this.sims.set(iccid, sim);
    return sim;
  }

  /** What a SIM has used this month. */
  usedMb(sim: Sim): number {
    const now = this.time.wall;
    const month = this.monthOf(now);
    const counterMonth = this.counterMonth;
    const grownMb = sim.stopped ? 0 : (sim.mbPerHour * Math.max(0, now - sim.at)) / HOUR_MS;
    // In a new month, too, there is nothing to compare a first reading with.
    if (counterMonth !== sim.counterMonth)
      Object.assign(sim, { counterMonth, counterMb: 0, isRecorded: false });
    else sim.counterMb += grownMb;
    if (month !== sim.month) {
      // A first reading is believed, also one of a counter that is of the former month still.
      const shownMore = sim.shownMore || (!sim.isRecorded && counterMonth < month);
      Object.assign(sim, { month, usedMb: 0, isRecorded: false, shownMore });
    } else sim.usedMb += grownMb;
    sim.at = now;
    return sim.usedMb;
  }

  /** The month that counters are of. */
  get counterMonth(): string {
    return this.monthOf(this.time.wall - this.countersLateMs);
  }

  /**
   * What a SIM may be counted with more than it has used in the month: its counter does not restart with the month, or it was read as the
   * month turned, by a clock that is two seconds ahead at most. Then what it used since the reading before counts in the new month (0004).
   */
  unsureMb({ mbPerHour, month, peaks }: Sim): number {
    const hasTurned = [...peaks.keys()].some((former) => former < month);
    const lateMs = Math.abs(this.countersLateMs);
    return hasTurned || lateMs > 0 ? (mbPerHour * (lateMs + READ_WITHIN_MS)) / HOUR_MS : 0;
  }

  /** Its counter begins at zero, within the month. */
  restartCounter(sim: Sim): void {
    this.usedMb(sim);
    Object.assign(sim, { counterMb: 0, shownLess: true });
  }

  /** What becomes of the next call of an interface for a SIM. */
  setFate(name: InterfaceName, iccid: string, fate: Fate): void {
    this.#fates.set(`${name} ${iccid}`, fate);
  }

  /** Everything is well again. */
  clear(): void {
    this.#fates.clear();
    this.wrong.clear();
    Object.assign(this.weather, FAIR);
    this.weather.dead.clear();
  }

  /** Receives the requests of one instance. */
  receive(
    from: Pick<Instance, 'id' | 'connections' | 'awake'>,
    request: Pick<Dispatcher.DispatchOptions, 'path' | 'body'>,
    handler: Dispatcher.DispatchHandler,
  ): void {
    const name = INTERFACE_OF[request.path] as InterfaceName;
    const { iccids, isBatch } = askedIn(String(request.body));
    const calls = iccids.map((iccid, i): Call => {
      this.calls += 1;
      return {
        ...{ id: this.calls, instance: from.id, name, iccid, at: this.time.now, isFirst: i === 0 },
        forgiven: false,
      };
    });
    let isOpen = true;
    const end = (answered: boolean) => {
      if (!isOpen) return;
      isOpen = false;
      from.connections.delete(end);
      for (const call of calls) {
        this.inFlight.delete(call);
        for (const watcher of this.watchers) watcher.ended?.(call, answered);
      }
    };
    from.connections.add(end);
    const controller = { abort: () => end(false) } as unknown as Dispatcher.DispatchController;
    /** An instance that stands still reads what came when it goes on; one that is dead, never. */
    const deliver = (tell: () => void) => {
      if (!isOpen) return;
      end(true);
      void from.awake().then(tell);
    };
    const brokenBy = (code: string) =>
      deliver(() => handler.onResponseError?.(controller, Object.assign(new Error(code), { code })));
    try {
      handler.onRequestStart?.(controller, {});
    } catch {
      end(false);
      return;
    }
    for (const call of calls) {
      this.inFlight.add(call);
      for (const watcher of this.watchers) watcher.called?.(call);
    }
    const { weather, random } = this;
    const fate = this.#fateOf(calls);
    fate?.meanwhile?.();
    const [least, most] = weather.latencyMs;
    const wantsMs =
      random.between(least, most) + (random.chance(weather.slowShare) ? random.below(weather.slowMs) : 0);
    const lot = random.next();
    const answerMs = Math.min(fate?.takesMs ?? wantsMs, GIVES_UP_MS);
    if (fate?.fails === 'reset' || weather.dead.has(name) || random.chance(weather.lostBefore)) {
      this.time.after(Math.min(answerMs, 1_000), () => brokenBy('ECONNRESET'));
      return;
    }
    const answer = (status: number, body: unknown, headers: Record<string, string> = {}) =>
      deliver(() => {
        handler.onResponseStart?.(controller, status, headers, '');
        handler.onResponseData?.(controller, Buffer.from(JSON.stringify(body)));
        handler.onResponseEnd?.(controller, {});
      });
    if (fate?.fails !== undefined || lot < weather.throttled) {
      const { retryAfterSeconds: s } = fate?.fails ?? weather;
      this.time.after(5, () => answer(429, {}, s === null ? {} : { 'retry-after': String(s) }));
      return;
    }
    const node = [...this.wrong].some(({ byNode }) => byNode) ? this.#nodes.below(2) : 0;
    const taken: Taken[] = [];
    for (const call of calls) {
      const sim = this.sims.get(call.iccid);
      if (sim === undefined || sim.isUnknown || random.chance(weather.refused)) {
        // Of several cards, the answer leaves this one out.
        if (calls.length > 1) continue;
        const code = sim?.isUnknown === false ? 5001 : 404;
        this.time.after(answerMs, () => answer(200, { code, msg: 'refused' }));
        return;
      }
      taken.push({ call, sim });
    }
    const isSilent = random.chance(weather.silent);
    const isLost = random.chance(weather.lostAfter);
    const isStale = random.chance(weather.stale);
    if ((name === 'stop' || name === 'start') && random.chance(weather.late)) {
      this.time.after(random.below(LATE_EFFECT_MS), () => this.#effects(taken, node));
      this.time.after(GIVES_UP_MS, () => brokenBy('ECONNRESET'));
      return;
    }
    const isOther = random.chance(weather.otherCard);
    const others = taken.map(({ sim }) => (isOther ? random.oneOf([...this.sims.values()]) : sim));
    const effectMs = Math.min(answerMs, random.below(LATEST_EFFECT_MS));
    this.time.after(effectMs, () => {
      const data = taken.map(({ call, sim }, i) => {
        const before = sim.shown.get(name);
        const fresh = this.#effect(call, sim, node);
        sim.shown.set(name, fresh);
        const other = others[i] as Sim;
        if (other !== sim) return this.#shows(name, other, node);
        return isStale && before !== undefined && name !== 'card_status' ? before : fresh;
      });
      this.time.after(Math.max(1, answerMs - effectMs), () => {
        if (isSilent) this.time.after(GIVES_UP_MS - answerMs, () => brokenBy('ECONNRESET'));
        else if (isLost) brokenBy('ECONNRESET');
        else {
          if (isOpen)
            for (const [i, { call, sim }] of taken.entries())
              if (others[i] === sim) for (const watcher of this.watchers) watcher.answered?.(call);
          answer(200, { code: 200, msg: 'ok', data: isBatch ? { cards: data } : data[0] });
        }
      });
    });
  }

  /** Of several cards, the first that has one. */
  #fateOf(calls: readonly Call[]): Fate | undefined {
    for (const { name, iccid } of calls) {
      const fate = this.#fates.get(`${name} ${iccid}`);
      if (fate === undefined) continue;
      this.#fates.delete(`${name} ${iccid}`);
      return fate;
    }
    return undefined;
  }

  #effects(taken: readonly Taken[], node: number): void {
    for (const { call, sim } of taken) this.#effect(call, sim, node);
  }

  #effect(call: Call, sim: Sim, node: number): unknown {
    const { name } = call;
    // What it used so far was used as it was so far.
    this.usedMb(sim);
    if (name === 'stop') sim.stopped = true;
    if (name === 'start') sim.stopped = false;
    for (const watcher of this.watchers) watcher.tookEffect?.(call, sim);
    const shown = this.#shows(name, sim, node);
    if (name === 'flow') {
      raise(sim.peaks, sim.month, Math.round(sim.usedMb * 1_000) / 1_000);
      raise(sim.shownPeaks, sim.month, Number((shown as { used: number }).used));
    }
    return shown;
  }

  #shows(name: InterfaceName, sim: Sim, node: number): unknown {
    const { iccid } = sim;
    if (name === 'flow') return { iccid, used: this.#shownMb(sim, node) };
    if (name === 'realname') return { iccid, realStatus: sim.verified };
    return { iccid, cardStatus: sim.stopped ? 'stopped' : 'active' };
  }

  #shownMb(sim: Sim, node: number): number {
    this.usedMb(sim);
    const { counterMb, isRecorded } = sim;
    const unit = isRecorded && counterMb >= PLAIN_FROM_MB ? this.weather.unit : 1;
    const right = Math.round(counterMb * 1_000 * unit) / 1_000;
    // A first reading is believed, and so is one of a counter that has just begun (0004).
    if (!isRecorded || counterMb < WRONG_FROM_MB) return right;
    let mb = right;
    for (const one of this.wrong) if ((!one.byNode || node === 1) && one.isOf(sim)) mb = one.shows(mb, sim);
    if (mb > right) sim.shownMore = true;
    if (mb < right) sim.shownLess = true;
    return rounded(mb);
  }
}

interface Taken {
  readonly call: Call;
  readonly sim: Sim;
}

function askedIn(body: string): { readonly iccids: readonly string[]; readonly isBatch: boolean } {
  const { iccid, iccids, id } = JSON.parse(body) as { iccid?: string; iccids?: string[]; id?: string };
  if (iccids !== undefined) return { iccids, isBatch: true };
  return { iccids: [iccid ?? String(id).slice(VENDOR_ID.length)], isBatch: false };
}

export function vendorIdOf({ iccid }: Pick<Sim, 'iccid'>): string {
  return `${VENDOR_ID}${iccid}`;
}

function rounded(mb: number): number {
  return Math.round(mb * 1_000) / 1_000;
}

function raise(peaks: Map<string, number>, month: string, mb: number): void {
  peaks.set(month, Math.max(mb, peaks.get(month) ?? 0));
}
