// Property tests of the API for as long as wanted: requests drawn from the description a daemon serves, against that
// daemon. Ends at the first wrong answer with the seed that shows it again.
//
//   npm run fuzz:api -- [--minutes 5] [--seed 1]
import { parseArgs } from 'node:util';
import { fuzzApi } from '../support/api-fuzz.ts';
import { Stack } from './stack.ts';

/** Drawn from one seed; the next ones take the next seed. */
const REQUESTS_A_SEED = 1_000;

export async function run(argv: string[]): Promise<void> {
  const { values } = parseArgs({
    args: argv,
    options: { minutes: { type: 'string', default: '5' }, seed: { type: 'string', default: '1' } },
  });
  const until = performance.now() + Number(values.minutes) * 60_000;
  const statuses: Record<string, number> = {};
  let seed = Number(values.seed);
  let failure: string | null = null;
  const stack = await Stack.start();
  try {
    await stack.insertCards(10);
    const simulator = await stack.startSimulator();
    const daemon = await stack.startDaemon(simulator.url, {
      CARDPOLL_API_RATE_LIMIT_PER_MINUTE: '0',
      CARDPOLL_API_REFUSAL_LIMIT_PER_MINUTE: '0',
    });
    do {
      const report = await fuzzApi({ url: daemon.url, seed, requests: REQUESTS_A_SEED });
      for (const [status, count] of Object.entries(report.statuses)) {
        statuses[status] = (statuses[status] ?? 0) + count;
      }
      failure = report.failure;
      seed += 1;
    } while (failure === null && performance.now() < until);
    await daemon.stop();
    await simulator.stop();
  } finally {
    await stack.stop();
  }
  if (failure !== null) process.stdout.write(`${failure}\n`);
  const requests = Object.values(statuses).reduce((sum, count) => sum + count, 0);
  process.stdout.write(`${JSON.stringify({ fuzz: 'api', requests, statuses, failed: failure !== null })}\n`);
  process.exitCode = failure === null ? 0 : 1;
}
