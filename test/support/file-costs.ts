// What each test file costs, for `npm run test:costs`: a line in the file that TEST_COSTS names, with CPU
// seconds of its process and of the children that it ended, and seconds on the wall. The first file of a process also
// pays for the modules that it shares with the next. PostgreSQL's, which a run shares, are not seen.
import { appendFileSync, readFileSync } from 'node:fs';
import { afterAll, expect } from 'vitest';

/** Without the prefix of settings: the daemon refuses such a variable if it does not know it. */
const file = process.env.TEST_COSTS;

/** Registers the last hook of a file, if called before all others: they run backwards. */
export function noteCosts(): void {
  if (file === undefined) return;
  const start = performance.now();
  const own = process.cpuUsage();
  const children = childrenSeconds();
  afterAll(() => {
    const { user, system } = process.cpuUsage(own);
    const path = expect.getState().testPath?.replace(process.cwd(), '').slice(1);
    const figures = [(user + system) / 1e6, childrenSeconds() - children, (performance.now() - start) / 1e3];
    appendFileSync(file, `${[...figures.map((s) => s.toFixed(2)), process.pid, path].join('\t')}\n`);
  });
}

/** Of those that ended: fields 16 and 17 of proc(5)'s stat, in hundredths. */
function childrenSeconds(): number {
  const fields = readFileSync('/proc/self/stat', 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[13]) + Number(fields[14])) / 100;
}
