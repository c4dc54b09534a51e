// The gateway of a world: what it knows of every SIM is the truth that invariants compare with. It answers as the weather says, which
// faults change: late, with refusals, with broken connections, with answers of before or for another card.
import type { Dispatcher } from 'undici';
import type { InterfaceName } from '../../src/domain/gateway-interface.ts';
import type { Instance } from './instance.ts';
import type { OutsideTime } from './outside.ts';
import type { Random } from './virtual/random.ts';

const HOUR_MS = 3_600_000;
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
/** From here on, 1,024 times the usage is more than a line carries in twenty minutes. Less could be true, and is believed. */
const PLAIN_FROM_MB = 25;

const INTERFACE_OF: Readonly<Record<string, InterfaceName>> = {
  '/card/realname': 'realname',
  '/card/flow': 'flow',
  '/card/status': 'card_status',
  '/card/stop': 'stop',
  '/card/start': 'start',
};

export interface Sim {
  readonly iccid: string;
  readonly mbPerHour: number;
  usedMb: number;
  /** Since when `usedMb` grew no more: it is brought up when it is asked for. */
  at: number;
  month: string;
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
  calls = 0;
  readonly #fates = new Map<string, Fate>();

  constructor(
    private readonly time: OutsideTime,
    private readonly random: Random,
    private readonly monthOf: (atMs: number) => string,
  ) {}

  addSim(iccid: string): Sim {
    const month = this.monthOf(this.time.wall);
    const mbPerHour = this.random.below(MB_PER_HOUR_MOST);
    const sim: Sim = {
      ...{ iccid, mbPerHour, month, at: this.time.wall },
      usedMb: this.random.below(this.random.chance(LITTLE_SHARE) ? LITTLE_MB : MOST_MB),
      ...{ stopped: false, verified: this.random.chance(0.8), isRecorded: false, shown: new Map() },
      isUnknown: false,
      ...{ peaks: new Map(), shownPeaks: new Map() },
    };
    this.sims.set(iccid, sim);
    return sim;
  }

  /** What a SIM has used this month, as the gateway counts it. */
  usedMb(sim: Sim): number {
    const now = this.time.wall;
    const month = this.monthOf(now);
    // In a new month, too, there is nothing to compare a first reading with.
    if (month !== sim.month) Object.assign(sim, { month, usedMb: 0, isRecorded: false });
    else if (!sim.stopped) sim.usedMb += (sim.mbPerHour * Math.max(0, now - sim.at)) / HOUR_MS;
    sim.at = now;
    return sim.usedMb;
  }

  /** What becomes of the next call of an interface for a SIM. */
  setFate(name: InterfaceName, iccid: string, fate: Fate): void {
    this.#fates.set(`${name} ${iccid}`, fate);
  }

  /** Everything is well again. */
  clear(): void {
    this.#fates.clear();
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
    const { iccid } = JSON.parse(String(request.body)) as { iccid: string };
    this.calls += 1;
    const call: Call = { id: this.calls, instance: from.id, name, iccid, at: this.time.now, forgiven: false };
    let isOpen = true;
    const end = (answered: boolean) => {
      if (!isOpen) return;
      isOpen = false;
      this.inFlight.delete(call);
      from.connections.delete(end);
      for (const watcher of this.watchers) watcher.ended?.(call, answered);
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
    this.inFlight.add(call);
    for (const watcher of this.watchers) watcher.called?.(call);
    const { weather, random } = this;
    const fate = this.#fates.get(`${name} ${iccid}`);
    this.#fates.delete(`${name} ${iccid}`);
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
    const sim = this.sims.get(iccid);
    if (sim === undefined || sim.isUnknown || random.chance(weather.refused)) {
      const code = sim?.isUnknown === false ? 5001 : 404;
      this.time.after(answerMs, () => answer(200, { code, msg: 'refused' }));
      return;
    }
    const isSilent = random.chance(weather.silent);
    const isLost = random.chance(weather.lostAfter);
    const isStale = random.chance(weather.stale);
    if ((name === 'stop' || name === 'start') && random.chance(weather.late)) {
      this.time.after(random.below(LATE_EFFECT_MS), () => this.#effect(call, sim));
      this.time.after(GIVES_UP_MS, () => brokenBy('ECONNRESET'));
      return;
    }
    const other = random.chance(weather.otherCard) ? random.oneOf([...this.sims.values()]) : sim;
    const effectMs = Math.min(answerMs, random.below(LATEST_EFFECT_MS));
    this.time.after(effectMs, () => {
      const fresh = this.#effect(call, sim);
      const before = sim.shown.get(name);
      sim.shown.set(name, fresh);
      const isOld = isStale && before !== undefined && name !== 'card_status';
      const data = other === sim ? (isOld ? before : fresh) : this.#shows(name, other);
      this.time.after(Math.max(1, answerMs - effectMs), () => {
        if (isSilent) this.time.after(GIVES_UP_MS - answerMs, () => brokenBy('ECONNRESET'));
        else if (isLost) brokenBy('ECONNRESET');
        else {
          if (isOpen && other === sim) for (const watcher of this.watchers) watcher.answered?.(call);
          answer(200, { code: 200, msg: 'ok', data });
        }
      });
    });
  }

  #effect(call: Call, sim: Sim): unknown {
    const { name } = call;
    // What it used so far was used as it was so far.
    this.usedMb(sim);
    if (name === 'stop') sim.stopped = true;
    if (name === 'start') sim.stopped = false;
    for (const watcher of this.watchers) watcher.tookEffect?.(call, sim);
    const shown = this.#shows(name, sim);
    if (name === 'flow') {
      raise(sim.peaks, sim.month, Math.round(sim.usedMb * 1_000) / 1_000);
      raise(sim.shownPeaks, sim.month, Number((shown as { used: number }).used));
    }
    return shown;
  }

  #shows(name: InterfaceName, sim: Sim): unknown {
    const { iccid } = sim;
    if (name === 'flow') {
      const unit = sim.isRecorded && this.usedMb(sim) >= PLAIN_FROM_MB ? this.weather.unit : 1;
      return { iccid, used: Math.round(this.usedMb(sim) * 1_000 * unit) / 1_000 };
    }
    if (name === 'realname') return { iccid, realStatus: sim.verified };
    return { iccid, cardStatus: sim.stopped ? 'stopped' : 'active' };
  }
}

function raise(peaks: Map<string, number>, month: string, mb: number): void {
  peaks.set(month, Math.max(mb, peaks.get(month) ?? 0));
}
