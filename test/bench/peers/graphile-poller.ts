// The peer on graphile-worker, as its guide recommends (worker.graphile.org): a job with a key and a time for each card, which adds
// its successor itself ("Job key"; the crontab is not for tasks of each user), batching on ("Performance"), a pool of
// concurrency + 2 ("Configuration"). It adds the successor first: a job whose worker is killed stays locked for four hours ("Error
// handling"). A failed poll ends well and waits for its next interval: "Jobs should not perma-fail" ("Scaling tips").
//
// A process of its own, started by pollers.ts: `schedule N` adds the jobs of cards 1 to N and ends; `poll` polls.
import { Logger, makeWorkerUtils, run, type Task } from 'graphile-worker';
import pg from 'pg';
import { cardJob, firstDelayMs, readSettings } from './card-job.ts';

/** Jobs of a statement. */
const CHUNK = 1_000;

const settings = readSettings();
const { concurrency, intervalMs } = settings;

async function schedule(cards: number): Promise<void> {
  const utils = await makeWorkerUtils({ connectionString: settings.databaseUrl });
  await utils.migrate();
  const start = Date.now();
  for (let from = 1; from <= cards; from += CHUNK) {
    const ids = Array.from({ length: Math.min(CHUNK, cards - from + 1) }, (_, i) => from + i);
    await utils.addJobs(ids.map((id) => jobOf(id, start + firstDelayMs(id, cards, intervalMs))));
  }
  await utils.release();
}

function jobOf(cardId: number, atMs: number) {
  return {
    identifier: 'poll',
    payload: { card_id: cardId },
    jobKey: `card-${cardId}`,
    runAt: new Date(atMs),
  };
}

async function poll(): Promise<void> {
  const pgPool = new pg.Pool({ connectionString: settings.databaseUrl, max: concurrency + 2 });
  const job = cardJob(settings, pgPool);
  const logError = (error: Error) => job.log.error({ error: error.message }, 'database error');
  pgPool.on('error', logError).on('connect', (client) => client.on('error', logError));
  const pollCard: Task = async (payload, { addJob, job: own }) => {
    const { card_id: cardId } = payload as { card_id: number };
    const nextMs = own.run_at.getTime() + intervalMs;
    const next = jobOf(cardId, nextMs > Date.now() ? nextMs : Date.now() + intervalMs);
    await addJob(next.identifier, next.payload, { jobKey: next.jobKey, runAt: next.runAt });
    await job.poll(cardId).catch((error: Error) => {
      job.log.warn({ card_id: cardId, error: error.message }, 'poll failed');
    });
  };
  const isTrouble = (level: string): level is 'error' | 'warning' => level === 'error' || level === 'warning';
  await run({
    pgPool,
    taskList: { poll: pollCard },
    // Its own line about each job would be the second one of a poll.
    logger: new Logger(() => (level, message) => {
      if (isTrouble(level)) job.log[level === 'error' ? 'error' : 'warn'](message);
    }),
    preset: {
      worker: {
        concurrentJobs: concurrency,
        localQueue: { size: concurrency + 1 },
        completeJobBatchDelay: 250,
        failJobBatchDelay: 250,
      },
    },
  });
}

await (process.argv[2] === 'schedule' ? schedule(Number(process.argv[3])) : poll());
