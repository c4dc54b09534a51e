// How flow control does when the gateway is in trouble: the built binary polls a fleet on fresh stores, the gateway counts
// its good answers by interface. A run warms up until the pace is steady, measures it, and lets the trouble begin; what is
// measured begins 20 s later and lasts 30 s. The ratio is of the good answers that were possible: the pace before, times
// the share of the calls that can succeed. Each scenario says in its own file what it is about.
//
//   npm run bench:flow -- [--only cards,dead] [--kinds 500,hang] [--shares 20,30] [--limits 200] [--quick]
//                         [--instances 1|3] [--redis standalone|cluster]
import { cardRuns } from './flow/cards.ts';
import { deadRuns } from './flow/dead.ts';
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
};
/** Has a table of its own. */
const OVERLOAD = 'overload';

export async function run(argv: string[]): Promise<void> {
  const options = readOptions(argv);
  const names = chosen([...Object.keys(SCENARIOS), OVERLOAD], options.only);
  const runs = names.flatMap((name) => SCENARIOS[name]?.(options) ?? []);
  const rows: Row[] = [];
  for (const [done, { name, measure }] of runs.entries()) {
    process.stderr.write(`${done + 1} of ${runs.length}: ${name}\n`);
    rows.push(await measure());
    printRows(rows.slice(-1));
  }
  if (rows.length > 0) printRows(rows);
  const overload = names.includes(OVERLOAD) ? await measureOverload(options.overload) : null;
  const { instances, redis } = options;
  const line = { bench: 'flow', instances, redis, rows: rows.map(jsonOf), overload };
  process.stdout.write(`${JSON.stringify(line)}\n`);
}
