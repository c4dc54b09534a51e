// Operators who contradict each other, a gateway whose answers are late, lost or refusals, and workers that die or stand still:
// the package task, the operations and a real database. In the end every card is as its last order says, and the gateway never
// had two calls of a card under way. What happens is drawn anew in each run.
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { MonthCalendar } from '../../src/domain/cards/month-calendar.ts';
import { OrderCalls } from '../../src/engine/orders/order-calls.ts';
import { PackageTask } from '../../src/engine/tasks/package.ts';
import { CardReader } from '../../src/engine/work/card-reader.ts';
import { Deadline } from '../../src/engine/work/task.ts';
import { GatewayClient } from '../../src/gateway/call/client.ts';
import { demoIccid } from '../../src/gateway/simulate/simulated-fleet.ts';
import type { Operations } from '../../src/operations/operations.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { NO_PROXIES } from '../../src/platform/proxy/http-proxy.ts';
import { cardRow } from '../support/cards.ts';
import { gatewayConfig } from '../support/gateway-config.ts';
import { HEALTHY } from '../support/healthy-answers.ts';
import { type OperatedStores, openOperatedStores } from '../support/operated-stores.ts';
import {
  broken,
  type Script,
  type ScriptedAnswer,
  type ScriptedGateway,
  startScriptedGateway,
} from '../support/scripted-gateway.ts';
import { UNLIMITED } from '../support/stop-rules.ts';
import { waitFor } from '../support/wait-for.ts';

const CARD_IDS = [1, 2, 3, 4, 5, 6, 7, 8];
/** Cards over their package, which cardpoll stops by itself. */
const OVER = [1, 2];
const WORKERS = 10;
const OPERATORS = 3;
const ROUNDS = 8;
const DISORDER_MS = 5_000;
/** Of cards and of claims. Polls end within half of it, calls and their effects within the rest. */
const LEASE_MS = 1_000;
const TIMEOUT_MS = 250;
const CACHED_MS = 50;
const ACTOR = { name: 'alice', role: 'operator', address: '127.0.0.1', requestId: 'drawn' } as const;
const REASON = 'as drawn';

const below = (n: number) => Math.floor(Math.random() * n);
const drawnIn = (share: number) => Math.random() < share;
const oneOf = <T>(all: readonly T[]) => all[below(all.length)] as T;

const calendar = new MonthCalendar('Asia/Shanghai');
const log = pino({ level: 'silent' });
let stores: OperatedStores;
let operations: Operations;
let database: pg.Client;
let scripted: ScriptedGateway;
let gateway: GatewayClient;
let reader: CardReader;
let isDisorder = true;

/** As the gateway has it: stopped cards, and calls on their way to have an effect. */
const stopped = new Set<string>();
const underWay = new Map<string, string>();
const atOnce: string[] = [];
/** What happened to each card, for when the test fails. */
const story = new Map<string, string[]>();
const tell = (iccid: string, what: string) => {
  story.set(iccid, [...(story.get(iccid) ?? []), `${new Date().toISOString().slice(14)} ${what}`]);
};

const script: Script = ({ interfaceName, iccid }) => {
  if (interfaceName === 'stop' || interfaceName === 'start') return change(interfaceName, iccid);
  const delayMs = isDisorder ? below(40) : 0;
  return { body: { cardStatus: stopped.has(iccid) ? 'stopped' : 'active' }, delayMs };
};

function change(interfaceName: 'stop' | 'start', iccid: string): ScriptedAnswer {
  if (isDisorder && drawnIn(0.05)) return { body: '{"code":4001,"msg":"refused"}' };
  if (isDisorder && drawnIn(0.05)) return broken;
  const other = underWay.get(iccid);
  if (other !== undefined) atOnce.push(`${iccid}: ${interfaceName} while ${other} is under way`);
  underWay.set(iccid, interfaceName);
  const effectMs = isDisorder ? below(TIMEOUT_MS) : 0;
  tell(iccid, `${interfaceName} begins`);
  setTimeout(() => {
    underWay.delete(iccid);
    if (interfaceName === 'stop') stopped.add(iccid);
    else stopped.delete(iccid);
    tell(iccid, `${interfaceName} takes effect`);
  }, effectMs);
  if (isDisorder && drawnIn(0.2)) return { ...broken, delayMs: effectMs };
  return { body: HEALTHY[interfaceName], delayMs: isDisorder && drawnIn(0.1) ? 2 * TIMEOUT_MS : effectMs };
}

beforeAll(async () => {
  stores = await openOperatedStores();
  operations = stores.operations();
  database = new pg.Client({ connectionString: stores.databaseUrl });
  await database.connect();
  scripted = await startScriptedGateway(script);
  gateway = new GatewayClient(gatewayConfig({ url: scripted.url, timeoutMs: TIMEOUT_MS }), {
    log,
    clock: systemClock,
    calendar,
    proxies: NO_PROXIES,
  });
  reader = new CardReader(stores.live.cards, stores.records.cards, CACHED_MS, systemClock);
  await stores.records.cards.importChunk(
    CARD_IDS.map((cardId) =>
      cardRow(cardId, { realNameVerified: true, allowanceMb: OVER.includes(cardId) ? 10 : null }),
    ),
  );
  const readAtMs = Date.now();
  const next = {
    month: calendar.monthOf(readAtMs),
    usedMb: 11,
    lastReadingMb: 11,
    suspectedMb: null,
    jump: null,
    readAtMs,
  };
  await stores.records.results.write(
    OVER.map((cardId) => ({
      cardId,
      taskType: 'carddata',
      polledAtMs: readAtMs,
      usage: { next, basedOnReadAtMs: null },
    })),
  );
});
afterAll(async () => {
  await gateway.close();
  await scripted.close();
  await database.end();
  await stores.close();
});

/** A worker that may die at any of its statements, or stand still until its lease is over. */
class Frail {
  isDead = false;

  /** @returns the records as this worker reaches them. */
  with<T extends object>(records: T): T {
    return new Proxy(records, {
      get: (target, name) => {
        const method = Reflect.get(target, name) as (...args: unknown[]) => Promise<unknown>;
        return async (...args: unknown[]) => {
          await this.#live();
          const answer = await Reflect.apply(method, target, args);
          await this.#live();
          return answer;
        };
      },
    });
  }

  async #live(): Promise<void> {
    if (isDisorder && drawnIn(0.02)) this.isDead = true;
    if (this.isDead) throw new Error('dead');
    if (isDisorder && drawnIn(0.03)) await pause(LEASE_MS);
  }
}

/** When the lease of each card ends, by performance.now(). */
const leases = new Map<number, number>();

async function poll(cardId: number): Promise<void> {
  const claimedAt = performance.now();
  const leaseEnd = claimedAt + LEASE_MS;
  // The live store may lose it.
  if (!(isDisorder && drawnIn(0.05))) leases.set(cardId, leaseEnd);
  const { records } = stores;
  const worker = new Frail();
  const stops = worker.with(records.stops);
  const audit = { log: () => {} };
  const task = new PackageTask({ gateway, records: { stops }, audit, calendar, log });
  const calls = new OrderCalls({
    ...{ gateway, reader, audit, calendar, leaseMs: LEASE_MS, clock: systemClock, log },
    records: { stops, resumes: worker.with(records.resumes) },
    stopRules: () => UNLIMITED,
    fleetNow: () => Date.now(),
  });
  const card = (await reader.read([cardId])).get(cardId);
  if (card === undefined) throw new Error(`no card ${cardId}`);
  try {
    const { outcome } = await task.poll(card, new Deadline(systemClock, claimedAt, LEASE_MS, Date.now()));
    await records.results.write([outcome]);
    if (outcome.stopped !== undefined) await reader.forget([cardId]);
    if (outcome.overPackage)
      await records.orders.want([cardId], calendar.monthOf(Date.now()), UNLIMITED, () => true);
    const turn = { most: 1, resumesFirst: below(2), stops: true, resumes: true, mode: 'enforce' } as const;
    for (const order of await records.orders.take(turn, LEASE_MS))
      await calls.carryOut(order, (name) => gateway.gather(name, LEASE_MS));
  } catch {
    // The card is polled again: at once, or when the lease of the dead worker is over.
  }
  if (worker.isDead) return;
  if (leases.get(cardId) === leaseEnd) leases.delete(cardId);
}

let isOver = false;

async function work(): Promise<void> {
  while (!isOver) {
    const cardId = oneOf(CARD_IDS);
    if ((leases.get(cardId) ?? 0) > performance.now()) await pause(5);
    else await poll(cardId);
  }
}

const runs: string[] = [];

async function order(): Promise<void> {
  const { stops, resumes } = operations;
  const choice = Math.random();
  const card = oneOf(CARD_IDS);
  if (choice < 0.55) {
    const told = (what: string) => tell(demoIccid(card), `stop ${what}`);
    // A card that is stopped is refused.
    await stops.order(ACTOR, String(card), REASON).then(
      () => told('ordered'),
      ({ code }) => told(code),
    );
  } else if (choice < 0.85) {
    const cardIds = choice < 0.8 ? [card] : CARD_IDS.filter(() => drawnIn(0.5));
    if (cardIds.length === 0) return;
    const criteria = { cardIds, sinceMs: null, carrierId: null };
    const { id } = await resumes.create(ACTOR, criteria, { reason: REASON, stopAgain: drawnIn(0.2) });
    for (const cardId of cardIds) tell(demoIccid(cardId), `resume ordered: ${id}`);
    runs.push(id);
  } else if (runs.length > 0) {
    const id = oneOf(runs.slice(-3));
    await resumes.cancel(ACTOR, id).catch(() => {}); // it has ended
    for (const cardId of CARD_IDS) tell(demoIccid(cardId), `cancelled: ${id}`);
  }
}

async function operate(untilMs: number): Promise<void> {
  while (Date.now() < untilMs) {
    await order();
    await pause(below(150));
  }
}

interface CardState {
  readonly card_id: number;
  readonly iccid: string;
  readonly stopped: boolean;
  /** Of the last stop that was ordered, and of the last run with the card; null: none. */
  readonly ordered_at: Date | null;
  readonly run_at: Date | null;
  readonly resume_state: string | null;
  readonly stop_again: boolean | null;
}

const CARD_STATES = `
  SELECT c.card_id::integer, c.iccid, c.stopped, run.*,
    (SELECT max(at) FROM audit WHERE action = 'stops.order' AND object = 'card ' || c.card_id) AS ordered_at
  FROM cards c LEFT JOIN LATERAL (
    SELECT run.created_at AS run_at, r.state AS resume_state, run.stop_again
    FROM card_resumes r JOIN resume_runs run ON run.id = r.run_id
    WHERE r.card_id = c.card_id ORDER BY run.created_at DESC LIMIT 1
  ) AS run ON true`;

/** @returns whether the last order has the card stopped; null: it does not say, or was cancelled or given up. */
function isToBeStopped({ card_id, ordered_at, run_at, resume_state, stop_again }: CardState): boolean | null {
  if (ordered_at !== null && (run_at === null || ordered_at > run_at)) return true;
  const isResumed = resume_state === 'resumed' || resume_state === 'already_running';
  return isResumed && !(stop_again === true && OVER.includes(card_id)) ? false : null;
}

async function carriedOut(): Promise<void> {
  const { resumes } = stores.records;
  await waitFor(
    async () => {
      for (const id of await resumes.open()) await resumes.handOut(id);
      // A call that was acknowledged without effect is made again after half a minute or more.
      for (const table of ['card_stops', 'card_resumes']) {
        await database.query(
          `UPDATE ${table} SET claimed_until = clock_timestamp()
           WHERE unconfirmed > 0 AND claimed_until > clock_timestamp() + $1::float8 * interval '1 ms'`,
          [LEASE_MS],
        );
      }
      // The effect of a stop is waited for as long.
      await database.query(
        `UPDATE card_stops SET charged_at = charged_at - interval '1 minute'
         WHERE charged_at > clock_timestamp() - interval '1 minute'
           AND (claimed_until IS NULL OR claimed_until <= clock_timestamp() OR unconfirmed > 0)`,
      );
      const { rows } = await database.query(
        `SELECT FROM card_stops WHERE state = 'requested' UNION ALL SELECT FROM card_resumes WHERE state = 'waiting'`,
      );
      return rows.length === 0;
    },
    { everyMs: 100, what: 'all orders to be carried out' },
  );
  // Who stood still has gone on.
  await pause(2 * LEASE_MS);
  scripted.forget();
  await waitFor(
    () => CARD_IDS.every((id) => (scripted.callsOf.get(`card_status ${demoIccid(id)}`) ?? 0) >= 3),
    { what: 'every card to be polled again' },
  );
}

it.each(Array.from({ length: ROUNDS }, (_, i) => i + 1))(
  'leaves each as its last order says (%i)',
  async () => {
    const untilMs = Date.now() + DISORDER_MS;
    isDisorder = true;
    isOver = false;
    const workers = Array.from({ length: WORKERS }, work);
    await Promise.all(Array.from({ length: OPERATORS }, () => operate(untilMs)));
    isDisorder = false;
    await carriedOut();
    isOver = true;
    await Promise.all(workers);
    const { rows } = await database.query<CardState>(CARD_STATES);
    const wrong = rows.filter((card) => {
      const isStopped = stopped.has(card.iccid);
      return card.stopped !== isStopped || (isToBeStopped(card) ?? isStopped) !== isStopped;
    });
    expect(atOnce).toEqual([]);
    expect(wrong.map((card) => ({ ...card, story: story.get(card.iccid)?.slice(-40) }))).toEqual([]);
  },
);
