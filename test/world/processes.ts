// `npm run prove:processes`: the faults of a seed come over real daemons on real Redis and PostgreSQL, and what the gateway sees is compared
// with the invariants of a world. One seed after the other, in real time. Ends with 1 if anything failed, 64 for arguments it does not take.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Checks, Invariant } from './invariant.ts';
import { budget } from './invariants/budget.ts';
import { limit } from './invariants/limit.ts';
import { liveness } from './invariants/liveness.ts';
import { oneCall } from './invariants/one-call.ts';
import { onlyOver } from './invariants/only-over.ts';
import { overStopped } from './invariants/over-stopped.ts';
import { stopOnce } from './invariants/stop-once.ts';
import { disorderMs } from './nature.ts';
import { drawn, guarded, type Night, nightThatEnded, stackOf, type Verdict } from './night.ts';
import { readOptions } from './options.ts';
import type { Outside } from './outside.ts';
import { PROCESS_FAULTS } from './processes/faults.ts';
import { ProcessFleet, type Topology } from './processes/fleet.ts';
import { storyOf } from './story.ts';
import { tableOf } from './table.ts';
import { Random } from './virtual/random.ts';

const HELD: ReadonlyArray<Invariant<Outside>> = [
  ...[limit, oneCall, liveness, onlyOver, stopOnce, budget, overStopped],
];
const LOOK_EVERY_MS = 200;
const DEFAULTS = { seeds: 4, minutes: 14, instances: 2, cards: 200 };

export async function run(args: string[]): Promise<number> {
  const options = readOptions(args, DEFAULTS, ['redis']);
  if (typeof options === 'string') {
    process.stderr.write(`prove:processes: ${options}\n`);
    return 64;
  }
  const stopped = new AbortController();
  process.on('SIGINT', () => stopped.abort());
  process.on('SIGTERM', () => stopped.abort());
  const verdicts: Verdict[] = [];
  for (let seed = options.from; seed < options.from + options.seeds && !stopped.signal.aborted; seed += 1) {
    const night = { ...options, seed };
    const topology = seed % 2 === 0 ? 'cluster' : 'standalone';
    const verdict = await live(night, topology, stopped.signal).catch((error) =>
      nightThatEnded(night, stackOf(error)),
    );
    if (stopped.signal.aborted) break;
    verdicts.push(verdict);
    const isOk = verdict.failures.length === 0;
    print([
      `seed ${seed}  Redis ${topology}  ${verdict.calls} calls  ${isOk ? 'ok' : `FAILED ${verdict.failures[0]}`}`,
    ]);
    if (!isOk) print(storyOf(verdict, 'prove:processes'));
    if (!isOk && options.first) break;
  }
  print(tableOf(verdicts, PROCESS_FAULTS, HELD));
  if (stopped.signal.aborted) return 130;
  return verdicts.every(({ failures }) => failures.length === 0) ? 0 : 1;
}

async function live(night: Night, topology: Topology, stopped: AbortSignal): Promise<Verdict> {
  const fleet = await ProcessFleet.start(night, topology);
  const { time } = fleet;
  const watches = HELD.map((invariant) => {
    const checks = { made: 0 };
    const watch: Checks = invariant.watch(fleet, (holds, what) => {
      checks.made += 1;
      if (!holds) fleet.fail(invariant.name, what());
    });
    if (watch.gateway !== undefined) fleet.gateway.watchers.push(guarded(fleet, watch.gateway));
    return { name: invariant.name, watch, checks };
  });
  const happened: Record<string, number> = {};
  const events = drawn(night, PROCESS_FAULTS).filter(({ number }) => night.faults?.includes(number) ?? true);
  const beganAt = time.now;
  const since = () => time.now - beganAt;
  try {
    while (since() < night.minutes * 60_000 && fleet.failures.length === 0 && !stopped.aborted) {
      const event = events[0];
      if (event !== undefined && event.at <= since()) {
        events.shift();
        const { number, fault } = event;
        const what = await fault.begin(fleet, new Random(night.seed, `fault ${number}`));
        if (what === null) continue;
        happened[fault.name] = (happened[fault.name] ?? 0) + 1;
        fleet.tell(`fault ${number}`, `${fault.name}: ${what}`);
      } else if (fleet.calmSince === null && since() >= disorderMs(night)) fleet.endFaults();
      else await sleep(LOOK_EVERY_MS);
    }
    if (fleet.failures.length === 0 && !stopped.aborted)
      for (const { watch } of watches) await watch.atRest?.();
  } finally {
    await fleet.close();
  }
  return {
    ...{ night, hash: '', happened, failures: fleet.failures, story: fleet.story },
    calls: fleet.gateway.calls,
    virtualMs: since(),
    realMs: since(),
    checks: Object.fromEntries(watches.map(({ name, checks }) => [name, checks.made])),
  };
}

function print(lines: readonly string[]): void {
  process.stdout.write(`${lines.join('\n')}\n`);
}
