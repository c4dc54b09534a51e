// Who tells that the stores are away, when, how often, and what goes into the history. Instances in virtual time over pretended stores;
// the receivers are real.
import { pino } from 'pino';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import type { AlertRule } from '../../../../src/domain/alerts/alert-rule.ts';
import type { Silence } from '../../../../src/domain/alerts/alert-silence.ts';
import { OutageWatch } from '../../../../src/engine/alerts/outage-watch.ts';
import { parseAddressRange } from '../../../../src/platform/addresses.ts';
import { NO_PROXIES } from '../../../../src/platform/proxy/http-proxy.ts';
import { SsrfGuard } from '../../../../src/platform/ssrf-guard.ts';
import type { InstanceInfo } from '../../../../src/store/ports/live/coordination.ts';
import type { OutageRecords } from '../../../../src/store/ports/records/alert-records.ts';
import { ruleFields } from '../../../support/alert-rules.ts';
import { answer, type BadGateway, startBadGateway } from '../../../support/bad-gateway.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { MESSAGE_MEANS } from '../../../support/message-deps.ts';
import { instanceOf } from '../../../support/polled-fleet.ts';

const LOOPBACK = [parseAddressRange('127.0.0.1')].filter((range) => range !== null);
const CUT = { sinceMs: 0, reason: 'x' };
type Opened = Parameters<OutageRecords['open']>[0];

let clock: FakeClock;
let receiver: BadGateway;
let accepts: boolean;
let rules: AlertRule[];
let silences: Silence[];
/** Monotonic time since when a store is away, for one instance. */
let awayAt: Record<string, { redis?: number; postgres?: number }>;
let holder: string | null;
let instances: InstanceInfo[];
let opened: Opened[];
let closed: Array<{ okMs: number; leastAgeMs: number }>;
let isOpen: boolean;
let leader: string | null;

beforeEach(async () => {
  clock = new FakeClock();
  [accepts, silences, awayAt, holder, opened, closed, isOpen, leader] = [
    true,
    [],
    {},
    null,
    [],
    [],
    false,
    null,
  ];
  instances = ['a', 'b'].map((id) => instanceOf(id, { databaseOutage: CUT }));
  receiver = await startBadGateway((...call) => answer(accepts ? 204 : 500, '')(...call));
  onTestFinished(() => receiver.close());
  rules = [1, 2, 3].map((id) => ruleOf(id, `${receiver.url}/hook`));
});

function ruleOf(id: number, webhookUrl: string): AlertRule {
  const health = { ruleType: 'health', taskType: 'realname', threshold: 1, webhookGrouped: true } as const;
  const fields = ruleFields({ name: `Health ${id}`, ...health, webhookUrl, cooldownSeconds: 300 });
  return { ...fields, id, createdAtMs: 0, updatedAtMs: 0 };
}

const PROBLEM = { redis: 'ECONNREFUSED', postgres: 'takes no writes' };

function watch(instanceId: string): OutageWatch {
  awayAt[instanceId] = {};
  const watched = (store: 'redis' | 'postgres', shownAfterMs: number) => ({
    get outage() {
      const since = awayAt[instanceId]?.[store];
      const lastsMs = since === undefined ? 0 : clock.monotonic() - since;
      return lastsMs <= shownAfterMs ? null : { lastsMs, reason: PROBLEM[store] };
    },
  });
  const reach =
    <T>(store: 'redis' | 'postgres', value: () => T) =>
    async () => {
      if (awayAt[instanceId]?.[store] !== undefined) throw new Error(`${store} is away`);
      return value();
    };
  const lead = () => {
    holder ??= instanceId;
    return holder === instanceId ? 1 : null;
  };
  return new OutageWatch({
    ...MESSAGE_MEANS,
    ...{
      secrets: [],
      timeZone: 'UTC',
      guard: new SsrfGuard(LOOPBACK, NO_PROXIES),
      meter: { webhookAttempt: () => {} },
    },
    instanceId,
    live: { coordination: { lead: reach('redis', lead), instances: reach('redis', () => instances) } },
    alerts: {
      rules: reach('postgres', () => ({ items: rules, total: rules.length })),
      silences: { list: reach('postgres', () => silences) },
      outages: {
        open: async (outage) => {
          await reach('postgres', () => {})();
          opened.push(outage);
          const isNew = !isOpen;
          isOpen = true;
          return { id: 1, isNew };
        },
        close: async (okMs, leastAgeMs) => {
          closed.push({ okMs, leastAgeMs });
          const was = isOpen && leastAgeMs === 0;
          if (was) isOpen = false;
          return was;
        },
      },
    },
    redis: watched('redis', 10_000),
    postgres: watched('postgres', 5_000),
    leads: () => leader === instanceId,
    clock,
    log: pino({ level: 'silent' }),
    onError: (error) => expect.unreachable(String(error)),
  });
}

const expectAway = (error: unknown) => expect(String(error)).toMatch(/is away$/);

/** So many seconds, a pass of every instance each. */
async function live(seconds: number, ...watches: readonly OutageWatch[]): Promise<void> {
  for (let second = 0; second < seconds; second += 1) {
    // As its loop does, which goes on after a pass that failed.
    for (const one of watches) await one.runOnce(new AbortController().signal).catch(expectAway);
    clock.advance(1_000);
  }
}

function away(stores: ReadonlyArray<'redis' | 'postgres'>, ...ids: readonly string[]): void {
  for (const id of ids) awayAt[id] = Object.fromEntries(stores.map((store) => [store, clock.monotonic()]));
}

const bodies = () => receiver.requests.map(({ body }) => JSON.parse(body) as Record<string, string>);

async function two(): Promise<[OutageWatch, OutageWatch]> {
  const both: [OutageWatch, OutageWatch] = [watch('a'), watch('b')];
  await live(2, ...both);
  return both;
}

describe('PostgreSQL away', () => {
  it('is reported once, after 20 s, by the holder of a lease, and recorded when it is back', async () => {
    const both = await two();
    away(['postgres'], 'a', 'b');
    await live(20, ...both);
    expect(bodies(), 'a moment is no outage').toEqual([]);
    await live(40, ...both);
    expect(bodies()).toMatchObject([
      {
        event: 'alert.fired',
        severity: 'alert',
        command: 'cardpoll doctor',
        dedup_key: `${MESSAGE_MEANS.fleet.id}/stores`,
        runbook_url: `${MESSAGE_MEANS.runbookUrl}#database_outage`,
        text: expect.stringMatching(
          /^PostgreSQL cannot be used by any of 2 instances, says a: takes no writes, since/,
        ),
      },
    ]);
    expect(opened).toEqual([]);
    away([], 'a', 'b');
    await live(59, ...both);
    expect(opened).toMatchObject([{ notices: [{ status: 'delivered', attempts: 1 }] }]);
    expect(opened[0]?.beganMsAgo).toBe(60_000);
    expect(closed).toEqual([]);
    await live(3, ...both);
    expect(closed.some(({ okMs }) => okMs >= 60_000)).toBe(true);
    expect(bodies()).toHaveLength(1);
  });

  it('is left to the rules while an instance can lead', async () => {
    const both = await two();
    instances = [instanceOf('a', { databaseOutage: CUT }), instanceOf('b')];
    away(['postgres'], 'a');
    await live(90, ...both);
    away([], 'a');
    await live(90, ...both);
    expect(bodies()).toEqual([]);
    expect(opened).toEqual([]);
    instances = [
      instanceOf('a', { databaseOutage: CUT }),
      instanceOf('b', { databaseOutage: { ...CUT, part: 'results' } }),
    ];
    away(['postgres'], 'a');
    await live(60, ...both);
    expect(bodies()).toEqual([]);
  });
});

describe('Redis away', () => {
  it('is recorded at once, and every instance then sends from the outbox', async () => {
    const both = await two();
    expect(both[0].sendsForAll).toBe(false);
    away(['redis'], 'a', 'b');
    await live(20, ...both);
    expect(opened).toEqual([]);
    await live(5, ...both);
    expect(opened).toMatchObject([
      {
        notices: null,
        cause: { code: 'redis', text: 'Redis does not answer a: ECONNREFUSED; it does not see the others' },
      },
      { notices: null },
    ]);
    expect(both.map(({ sendsForAll }) => sendsForAll)).toEqual([true, true]);
    away([], 'a', 'b');
    await live(62, ...both);
    expect(both[0].sendsForAll).toBe(false);
    expect(isOpen).toBe(false);
    expect(opened, 'nobody opens it again').toHaveLength(2);
    expect(bodies(), 'what the outbox sends is not sent here').toEqual([]);
  });
});

describe('both away', () => {
  it('is reported by each instance once, with one key, as what it sees', async () => {
    const both = await two();
    away(['redis', 'postgres'], 'a', 'b');
    await live(120, ...both);
    expect(bodies().map(({ dedup_key }) => dedup_key)).toEqual(
      Array(2).fill(`${MESSAGE_MEANS.fleet.id}/stores`),
    );
    expect(bodies()[1]?.text).toMatch(/answers b: ECONNREFUSED: takes no writes; it does not see the others/);
    // Redis comes back first.
    for (const id of ['a', 'b']) delete awayAt[id]?.redis;
    await live(30, ...both);
    away([], 'a', 'b');
    await live(62, ...both);
    expect(bodies()).toHaveLength(2);
    expect(opened.map(({ notices }) => notices?.length)).toEqual([1, 1]);
    expect(isOpen).toBe(false);
  });

  it('is not reported again by a fleet that reported the first store', async () => {
    const both = await two();
    away(['postgres'], 'a', 'b');
    await live(30, ...both);
    for (const id of ['a', 'b']) awayAt[id] = { ...awayAt[id], redis: clock.monotonic() };
    await live(60, ...both);
    expect(bodies()).toHaveLength(1);
  });
});

describe('a receiver that is away, too', () => {
  it('is called again and again, at most once a minute, until it accepts', async () => {
    const one = watch('a');
    await live(2, one);
    accepts = false;
    away(['redis', 'postgres'], 'a');
    await live(300, one);
    expect(bodies().length).toBeGreaterThan(5);
    expect(bodies().length).toBeLessThan(12);
    accepts = true;
    const before = bodies().length;
    await live(300, one);
    expect(bodies().length).toBe(before + 1);
    expect(new Set(receiver.requests.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
  });

  it('hears of it by the outbox when PostgreSQL is back', async () => {
    const one = watch('a');
    await live(2, one);
    accepts = false;
    away(['redis', 'postgres'], 'a');
    await live(30, one);
    away([], 'a');
    await live(2, one);
    expect(opened).toMatchObject([{ notices: [{ status: 'pending', lastError: 'answered 500' }] }]);
  });
});

it('notifies no one where rules have no webhook, or all are silenced, and is recorded all the same', async () => {
  const silence = {
    id: 1,
    ruleId: null,
    ruleType: 'health',
    taskType: null,
    reason: '',
    by: '',
    sinceMs: 0,
  } as const;
  silences = [{ ...silence, untilMs: clock.now() + 86_400_000 }];
  const one = watch('a');
  await live(2, one);
  away(['redis', 'postgres'], 'a');
  await live(60, one);
  away([], 'a');
  await live(2, one);
  expect(bodies()).toEqual([]);
  expect(opened).toMatchObject([{ notices: [] }]);
});

it('notifies each receiver once, also one that only a silenced rule shares with another', async () => {
  rules = [
    ...rules,
    ruleOf(4, `${receiver.url}/other`),
    { ...ruleOf(5, `${receiver.url}/off`), isEnabled: false },
  ];
  const silence = { id: 1, ruleType: null, taskType: null, reason: '', by: '', sinceMs: 0 } as const;
  silences = [1, 4].map((ruleId) => ({ ...silence, ruleId, untilMs: clock.now() + 40_000 }));
  const one = watch('a');
  await live(2, one);
  away(['redis', 'postgres'], 'a');
  await live(25, one);
  expect(receiver.requests.map(({ path }) => path)).toEqual(['/hook']);
});

it('notifies both teams that have one URL, and secrets of their own', async () => {
  const { webhookUrl } = rules[0] ?? {};
  rules = [...rules, { ...ruleOf(4, String(webhookUrl)), webhookSecrets: ['of another team'] }];
  const one = watch('a');
  await live(2, one);
  away(['redis', 'postgres'], 'a');
  await live(25, one);
  expect(receiver.requests.map(({ path }) => path)).toEqual(['/hook', '/hook']);
});

it('leaves an outage to the leader whose witnesses have ended, after an hour', async () => {
  leader = 'a';
  await live(35, ...(await two()));
  expect(closed.every(({ leastAgeMs }) => leastAgeMs === 3_600_000)).toBe(true);
  expect(closed.length).toBeLessThan(4);
});
