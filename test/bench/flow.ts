// How flow control does when the gateway is in trouble: the built binary polls a fleet on fresh stores, the gateway counts
// its good answers by interface. A run warms up, measures the healthy pace over a revolution of the rings (30 s), and lets
// the trouble begin; what is measured begins 20 s later and lasts 30 s. The ratio is of the good answers that were possible:
// the pace before, times the share of the calls that can succeed. Each scenario says in its own file what it is about.
//
//   npm run bench:flow -- [--only cards,dead] [--kinds 500,hang] [--shares 20,30] [--limits 200] [--quick]
//                         [--instances 1|3] [--redis standalone|cluster] [--at-once 3]
//
// A run takes 1.7 minutes, so everything takes three and a half hours, and with --quick three quarters of one:
// cards 56 min (quick 14), random 1 h 45 min (quick 3.5), dead 10 to 15 min, rate 4.5 min, alternating, late, first-call
// and healing 2 to 3 min each, overload 4 min. With --at-once several runs share the machine, each with stores of its own:
// two cores bear three runs of 600 polls a second, and of `random` at limits of 200 and 2,000 one.
import pLimit from 'p-limit';
import { cardRuns } from './flow/cards.ts';
import { deadRuns } from './flow/dead.ts';
import { momentRuns } from './flow/moments.ts';
import { chosen, type FlowOptions, readOptions } from './flow/options.ts';
import { measureOverload } from './flow/overload.ts';
import { randomRuns } from './flow/random.ts';
import { rateRuns } from './flow/rate.ts';
import { jsonOf, printRows, type Row, type Run } from './flow/row.ts';

const SCENARIOS: Readonly<Record<string, (options: FlowOptions) => Run[]>> = {
  cards: cardRuns,
  random: randomRuns,
  dead: deadRuns,
  rate: rateRuns,
  alternating: (options) => momentRuns('alternating', options),
  late: (options) => momentRuns('late', options),
  'first-call': (options) => momentRuns('first-call', options),
  healing: (options) => momentRuns('healing', options),
};
/** Has a table of its own. */
const OVERLOAD = 'overload';

export async function run(argv: string[]): Promise<void> {
  const options = readOptions(argv);
  const names = chosen([...Object.keys(SCENARIOS), OVERLOAD], options.only);
  const runs = names.flatMap((name) => SCENARIOS[name]?.(options) ?? []);
  const rows: Row[] = [];
  const limit = pLimit(options.atOnce);
  const measureOne = async ({ name, measure }: Run) => {
    const row = await measure();
    rows.push(row);
    const ratio = `ratio ${row.ratio?.toFixed(2) ?? '-'}, ${row.met ? 'ok' : 'short'}`;
    process.stderr.write(`${rows.length} of ${runs.length}: ${name}, ${ratio}\n`);
  };
  const ended = await Promise.allSettled(runs.map((run) => limit(measureOne, run)));
  // Also when a run fails: it took long to measure the others.
  if (rows.length > 0) printRows(rows);
  for (const end of ended) if (end.status === 'rejected') throw end.reason;
  const overload = names.includes(OVERLOAD) ? await measureOverload(options) : null;
  const { instances, redis } = options;
  const line = { bench: 'flow', instances, redis, rows: rows.map(jsonOf), overload };
  process.stdout.write(`${JSON.stringify(line)}\n`);
}
