// The peer on BullMQ, as its guide recommends (docs.bullmq.io): a job scheduler for each card ("Job Schedulers"), one worker
// ("Concurrency": 100 to 300 for I/O), a limited number of finished jobs, errors logged, an orderly end ("Going to production").
// A failed poll waits for its next interval: retries would be further calls to a gateway that is down.
//
// A process of its own, started by pollers.ts: `schedule N` makes the schedulers of cards 1 to N and ends; `poll` polls.
import { Queue, Worker } from 'bullmq';
import pg from 'pg';
import { cardJob, firstDelayMs, readSettings } from './card-job.ts';

const QUEUE = 'cards';
/** So many commands are under way at a time. */
const CHUNK = 1_000;

const settings = readSettings();
const connection = { url: settings.redisUrl };

async function schedule(cards: number): Promise<void> {
  const queue = new Queue<{ card_id: number }>(QUEUE, { connection });
  const start = Date.now();
  for (let from = 1; from <= cards; from += CHUNK) {
    const ids = Array.from({ length: Math.min(CHUNK, cards - from + 1) }, (_, i) => from + i);
    const upsert = (id: number) =>
      queue.upsertJobScheduler(
        `card-${id}`,
        {
          every: settings.intervalMs,
          startDate: start + firstDelayMs(id, cards, settings.intervalMs),
        },
        { name: 'poll', data: { card_id: id }, opts: { removeOnComplete: 1_000, removeOnFail: 5_000 } },
      );
    await Promise.all(ids.map(upsert));
  }
  await queue.close();
}

function poll(): void {
  const database = new pg.Pool({ connectionString: settings.databaseUrl });
  const job = cardJob(settings, database);
  const worker = new Worker<{ card_id: number }>(QUEUE, ({ data }) => job.poll(data.card_id), {
    connection,
    concurrency: settings.concurrency,
  });
  worker.on('failed', (failed, error) =>
    job.log.warn({ card_id: failed?.data.card_id, error: error.message }, 'poll failed'),
  );
  worker.on('error', (error) => job.log.error({ error: error.message }, 'worker error'));
  process.once('SIGTERM', () => {
    void worker.close().then(() => process.exit(0));
  });
}

if (process.argv[2] === 'schedule') await schedule(Number(process.argv[3]));
else poll();
