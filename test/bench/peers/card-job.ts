// The job of a peer of bench:peers: reads one card, asks the gateway, stores the answer and logs a line. bullmq-poller.ts and
// graphile-poller.ts say when a card is polled; they have nothing else in common.
//
// As a careful user writes it: prepared statements, connections that are kept, a log that does not block, settings from the
// environment. The gateway's answers have the default profile.
import type pg from 'pg';
import { type Logger, pino } from 'pino';
import { Pool } from 'undici';

export interface PollerSettings {
  readonly redisUrl: string;
  readonly databaseUrl: string;
  readonly gatewayUrl: string;
  readonly logFile: string;
  readonly intervalMs: number;
  readonly concurrency: number;
}

export interface CardJob {
  readonly log: Logger;
  /** @throws Error when the card is not there or the gateway does not answer as it should; nothing is stored then. */
  poll(cardId: number): Promise<void>;
}

const GATEWAY_TIMEOUT_MS = 10_000;

/** Settings go to the process of a poller as one variable, so that none is on its command line. */
export function readSettings(): PollerSettings {
  return JSON.parse(process.env.POLLER ?? '') as PollerSettings;
}

export function cardJob({ gatewayUrl, logFile, concurrency }: PollerSettings, database: pg.Pool): CardJob {
  const log = pino(pino.destination({ dest: logFile, sync: false, minLength: 4_096, mkdir: true }));
  const gateway = new Pool(gatewayUrl, {
    connections: concurrency,
    headersTimeout: GATEWAY_TIMEOUT_MS,
    bodyTimeout: GATEWAY_TIMEOUT_MS,
  });
  const poll = async (cardId: number): Promise<void> => {
    const startedMs = performance.now();
    const found = await database.query<{ iccid: string }>({
      name: 'card',
      text: 'SELECT iccid FROM cards WHERE card_id = $1 AND status = 1',
      values: [cardId],
    });
    const iccid = found.rows[0]?.iccid;
    if (iccid === undefined) throw new Error(`card ${cardId} is not active`);
    const { statusCode, body } = await gateway.request({
      method: 'POST',
      path: '/card/flow',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ iccid }),
    });
    const text = await body.text();
    if (statusCode !== 200) throw new Error(`HTTP ${statusCode}`);
    const answer = JSON.parse(text) as { code: number; data: { used: number } };
    if (answer.code !== 200) throw new Error(`code ${answer.code}`);
    await database.query({
      name: 'polled',
      text: 'UPDATE cards SET used_mb = $2, polled_at = clock_timestamp() WHERE card_id = $1',
      values: [cardId, answer.data.used],
    });
    const tookMs = Math.round(performance.now() - startedMs);
    log.info({ card_id: cardId, iccid, used_mb: answer.data.used, took_ms: tookMs }, 'card polled');
  };
  return { log, poll };
}

/** When a card is polled first, milliseconds from now: the fleet is spread over the interval. */
export function firstDelayMs(cardId: number, cards: number, intervalMs: number): number {
  return Math.floor((cardId / cards) * intervalMs);
}
