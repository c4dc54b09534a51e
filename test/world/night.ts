// One seed: a world that begins, lives with its faults, gets time to recover, and is judged. What happens when is drawn first, so that a
// night can be lived again without some of it.
import type { Fault } from './fault.ts';
import { liveOfYesterday } from './faults/stores/live-returns.ts';
import { faultsOn, OWN_FAULTS } from './faults.ts';
import type { GatewayWatcher } from './gateway.ts';
import type { Checks } from './invariant.ts';
import { INVARIANTS } from './invariants.ts';
import { liveDataOfYesterday } from './live/yesterday.ts';
import { disorderMs, natureOf } from './nature.ts';
import { reality } from './virtual/globals.ts';
import { Random } from './virtual/random.ts';
import { type Ground, World, type WorldSize } from './world.ts';

export interface Night extends WorldSize {
  /** Numbers of the faults that happen; null: all that were drawn. */
  readonly faults: readonly number[] | null;
}

export interface Verdict {
  readonly night: Night;
  readonly hash: string;
  readonly failures: readonly string[];
  readonly story: readonly string[];
  readonly calls: number;
  readonly virtualMs: number;
  readonly realMs: number;
  /** By invariant, and by kind of fault. */
  readonly checks: Readonly<Record<string, number>>;
  readonly happened: Readonly<Record<string, number>>;
}

interface Event<Seen> {
  readonly number: number;
  readonly at: number;
  readonly fault: Fault<Seen>;
}

const CHECK_EVERY_MS = 5_000;
const FIRST_FAULT_MS = 20_000;
const FAULTS_A_MINUTE = 2;
/** Numbers of faults that are drawn by themselves. */
const FIRST_OWN = 1_001;
const OWN_AT_MOST = 10;
/** After the faults have ended; with the time that a drill takes. */
const DRILL_AFTER_MS = 150_000;
const DRILL_MS = 200_000;

/** @param all what may happen */
export function drawn<Seen>(
  night: Pick<Night, 'seed' | 'minutes'>,
  all: ReadonlyArray<Fault<Seen>>,
): Array<Event<Seen>> {
  const draw = new Random(night.seed, 'plan');
  // Some nights are quieter than others, and some know one kind of fault only.
  const often = FAULTS_A_MINUTE * draw.oneOf([0.3, 1, 2]);
  const kinds = draw.chance(0.3) ? all.filter(() => draw.chance(0.3)) : all;
  const weighed = (kinds.length > 0 ? kinds : all).flatMap((fault) =>
    Array.from({ length: Math.round(2 * (fault.weight ?? 1)) }, () => fault),
  );
  const end = disorderMs(night);
  const count = Math.round((often * end) / 60_000);
  // Some while the fleet starts, and is stopping the cards that are over from the start.
  const instants = Array.from({ length: count }, () =>
    draw.chance(0.1)
      ? draw.below(FIRST_FAULT_MS)
      : FIRST_FAULT_MS + draw.below(Math.max(1, end - FIRST_FAULT_MS)),
  );
  return instants.sort((a, b) => a - b).map((at, i) => ({ number: i + 1, at, fault: draw.oneOf(weighed) }));
}

/** @returns all that happens in a night, in the order of time. */
export function planOf(night: Night): Array<Event<World>> {
  const nature = natureOf(night, new Random(night.seed, 'world'));
  const end = disorderMs(night);
  const own = OWN_FAULTS.flatMap((fault, i): Array<Event<World>> => {
    const draw = new Random(night.seed, `plan of ${fault.name}`);
    if (!draw.chance(fault.share)) return [];
    const events = Array.from({ length: draw.between(1, fault.most) }, (_, nth) => {
      const at =
        fault.at?.(nature, draw, end) ?? FIRST_FAULT_MS + draw.below(Math.max(1, end - FIRST_FAULT_MS));
      return { number: FIRST_OWN + i * OWN_AT_MOST + nth, at, fault };
    });
    return events.filter(({ at }) => at >= 0 && at < end);
  });
  return [...drawn(night, faultsOn(night.store)), ...own].sort((a, b) => a.at - b.at);
}

export async function live(night: Night, ground: Ground): Promise<Verdict> {
  const began = reality.now();
  const events = planOf(night).filter(({ number }) => night.faults?.includes(number) ?? true);
  const asksForYesterday = events.some(({ fault }) => fault === liveOfYesterday);
  const yesterday = asksForYesterday ? await liveDataOfYesterday(night, ground) : null;
  const world = await World.begin(night, ground);
  world.yesterday = yesterday;
  const { time } = world;
  const watches = INVARIANTS.map((invariant) => {
    const checks = { made: 0 };
    const watch: Checks = invariant.watch(world, (holds, what) => {
      checks.made += 1;
      if (!holds) world.fail(invariant.name, what());
    });
    if (watch.gateway !== undefined) world.gateway.watchers.push(guarded(world, watch.gateway));
    for (const [method, watcher] of Object.entries(watch.store ?? {})) world.watchStore(method, watcher);
    return { name: invariant.name, watch, checks };
  });
  const happened: Record<string, number> = {};
  const begin = async ({ number, fault }: Event<World>) => {
    const what = await fault.begin(world, new Random(night.seed, `fault ${number}`));
    if (what === null) return;
    happened[fault.name] = (happened[fault.name] ?? 0) + 1;
    world.tell(`fault ${number}`, `${fault.name}: ${what}`);
  };
  const end = night.minutes * 60_000;
  const calmAt = disorderMs(night);
  const drillAt = calmAt + DRILL_AFTER_MS;
  let drills: Promise<unknown> | null = null;
  const unhandled = (error: unknown) => world.fail('nothing unhandled', stackOf(error));
  process.on('unhandledRejection', unhandled).on('uncaughtException', unhandled);
  try {
    for (let i = 0; i < night.instances; i += 1) void world.addInstance();
    while (time.now < end && world.failures.length === 0) {
      const next = Math.min(
        end,
        time.now + CHECK_EVERY_MS,
        events[0]?.at ?? end,
        world.calmSince === null ? calmAt : end,
        drills === null ? drillAt : end,
      );
      await time.runTo(next);
      while (events[0] !== undefined && events[0].at <= time.now) await begin(events.shift() as Event<World>);
      if (world.calmSince === null && time.now >= calmAt) world.endFaults();
      if (drills === null && time.now >= drillAt)
        drills = Promise.all(watches.map(({ watch }) => watch.drill?.()));
      for (const { watch } of watches) if (watch.now) await time.runWhile(watch.now(), 1_000);
    }
    if (world.failures.length === 0) {
      if (drills !== null) await time.runWhile(drills, DRILL_MS);
      for (const { watch } of watches) if (watch.atRest) await time.runWhile(watch.atRest(), 60_000);
      await time.runWhile(Promise.all(world.instances.map((instance) => instance.stop())), 120_000);
    }
  } catch (error) {
    world.fail('the world goes on', stackOf(error));
  }
  const { hash, failures, story } = world;
  await world.close();
  process.off('unhandledRejection', unhandled).off('uncaughtException', unhandled);
  return {
    ...{ night, hash, failures, story, happened },
    calls: world.gateway.calls,
    virtualMs: time.now,
    realMs: reality.now() - began,
    checks: Object.fromEntries(watches.map(({ name, checks }) => [name, checks.made])),
  };
}

/** A check that throws fails the night: the client of an instance would take it for a broken connection. */
export function guarded(world: Pick<World, 'fail'>, watcher: GatewayWatcher): GatewayWatcher {
  const run = (look: () => void) => {
    try {
      look();
    } catch (error) {
      world.fail('the world goes on', stackOf(error));
    }
  };
  return {
    called: (call) => run(() => watcher.called?.(call)),
    ended: (call, answered) => run(() => watcher.ended?.(call, answered)),
    answered: (call) => run(() => watcher.answered?.(call)),
    tookEffect: (call, sim) => run(() => watcher.tookEffect?.(call, sim)),
  };
}

export function stackOf(error: unknown): string {
  return String((error as Error).stack ?? error);
}

/** @param how the process that lived this night ended before it had a verdict */
export function nightThatEnded(night: Night, how: string): Verdict {
  const failures = [`the world goes on: the process ended (${how})`];
  return {
    ...{ night, failures, hash: '-'.repeat(16), story: [], calls: 0, virtualMs: 0, realMs: 1 },
    ...{ checks: {}, happened: {} },
  };
}
