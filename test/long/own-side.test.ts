// Nights in which the gateway is well and our own side is not: Redis or PostgreSQL slow, for all or for one instance, an instance without
// processor time, one that is killed, one that does not reach the gateway. Each is named, with its instance, and the gateway is not blamed.
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { OverviewBody } from '../../src/resources/stats.ts';
import { BreakableLink } from '../support/breakable-link.ts';
import { type Daemon, Fleet } from '../support/fleet.ts';
import { HEALTHY } from '../support/healthy-answers.ts';
import { waitFor } from '../support/processes.ts';
import { type ScriptedGateway, startScriptedGateway } from '../support/scripted-gateway.ts';

const CARDS = 600;
const INTERVAL_S = 6;
/** The heartbeats and looks that a median of them needs, and a busy machine. */
const NAMED_WITHIN_S = 30;
/** Longer than a reason is kept when it is over. */
const CALM_S = 90;
/** A container that may use a quarter of a core. */
const THROTTLED = { stoppedMs: 150, runningMs: 50 };

let gateway: ScriptedGateway;
let fleet: Fleet;
/** Ways of the second daemon. */
let own: { readonly redis: BreakableLink; readonly postgres: BreakableLink; readonly gateway: BreakableLink };
/** Ways of both. */
let shared: { readonly redis: BreakableLink; readonly postgres: BreakableLink };
let second: Daemon;
const table: string[] = [];

const portOf = (url: string) => Number(new URL(url).port);

beforeAll(async () => {
  gateway = await startScriptedGateway(({ interfaceName }) => ({
    body: interfaceName === 'flow' ? { used: 100 } : HEALTHY[interfaceName],
    delayMs: 20,
  }));
  fleet = await Fleet.start({ gatewayUrl: gateway.url });
  shared = {
    redis: await BreakableLink.to(portOf(fleet.redisServer.url)),
    postgres: await BreakableLink.to(portOf(fleet.databaseUrl)),
  };
  own = {
    redis: await BreakableLink.to(shared.redis.port),
    postgres: await BreakableLink.to(shared.postgres.port),
    gateway: await BreakableLink.to(portOf(gateway.url)),
  };
  second = await fleet.startDaemon({
    CARDPOLL_REDIS_URL: own.redis.around(fleet.redisServer.url),
    CARDPOLL_DATABASE_URL: own.postgres.around(fleet.databaseUrl),
    CARDPOLL_GATEWAY_URL: own.gateway.around(gateway.url),
    CARDPOLL_INSTANCE_NAME: 'second',
  });
  await fleet.startDaemon({
    CARDPOLL_REDIS_URL: shared.redis.around(fleet.redisServer.url),
    CARDPOLL_DATABASE_URL: shared.postgres.around(fleet.databaseUrl),
    CARDPOLL_INSTANCE_NAME: 'first',
  });
  await fleet.setIntervals(INTERVAL_S);
  await fleet.importCards(CARDS);
  await waitFor(async () => (await codes()).length === 0 && (gateway.calls.flow ?? 0) > 10 * CARDS, {
    everyMs: 1_000,
    timeoutMs: 180_000,
    what: 'a fleet that is well and knows what is usual',
  });
});
afterAll(async () => {
  fleet?.close();
  for (const link of [...Object.values(own ?? {}), ...Object.values(shared ?? {})]) await link.close();
  await gateway?.close();
});

async function reasons() {
  return (await fleet.get<OverviewBody>('/api/admin/polling-stats')).health_reasons;
}
const codes = async () => (await reasons()).map(({ code }) => code);

/** Stops the process again and again, as the quota of a container does. */
function throttled(daemon: Daemon): () => void {
  let timer: NodeJS.Timeout;
  const stop = () => {
    daemon.process.signal('SIGSTOP');
    timer = setTimeout(go, THROTTLED.stoppedMs);
  };
  const go = () => {
    daemon.process.signal('SIGCONT');
    timer = setTimeout(stop, THROTTLED.runningMs);
  };
  stop();
  return () => {
    clearTimeout(timer);
    daemon.process.signal('SIGCONT');
  };
}

const slow = (link: () => BreakableLink, ms: number) => () => {
  link().slowDown(ms);
  return () => link().restore();
};

it.each<[string, string, RegExp, () => () => void]>([
  ['Redis takes 600 ms', 'redis_slow', /2 of 2 instances/, slow(() => shared.redis, 600)],
  ['PostgreSQL takes 800 ms', 'database_slow', /2 of 2 instances/, slow(() => shared.postgres, 800)],
  [
    'Redis takes 600 ms for one instance',
    'redis_slow',
    /second.* but not for 1 other/,
    slow(() => own.redis, 600),
  ],
  [
    'PostgreSQL takes 800 ms for one instance',
    'database_slow',
    /second.* but not for 1 other/,
    slow(() => own.postgres, 800),
  ],
  ['one instance gets too little processor time', 'own_cpu', /second.* late/, () => throttled(second)],
  [
    'one instance does not reach the gateway',
    'instance_cut_off',
    /second.* cannot use/,
    () => {
      own.gateway.cut();
      return () => own.gateway.restore();
    },
  ],
])('%s: named, and not the gateway', async (night, code, text, begin) => {
  const end = begin();
  const since = performance.now();
  const seconds = () => Math.round((performance.now() - since) / 1_000);
  const seen = new Set<string>();
  try {
    const found = await waitFor(
      async () => {
        const all = await reasons();
        for (const one of all) seen.add(one.code);
        return all.find((one) => one.code === code && text.test(one.text)) ?? null;
      },
      { everyMs: 500, timeoutMs: 1_000 * NAMED_WITHIN_S, what: `${code}, seen ${[...seen].join(' ')}` },
    );
    const named = seconds();
    await waitFor(
      async () => {
        const all = await codes();
        for (const one of all) seen.add(one);
        return seconds() > named + 15;
      },
      { everyMs: 500, timeoutMs: 60_000, what: 'a while' },
    );
    expect([...seen], 'blame').not.toContain('gateway_slow');
    table.push(`${night}: ${named} s, "${found.text}", seen ${[...seen].join(' ')}`);
  } finally {
    end();
  }
  await waitFor(async () => (await codes()).length === 0, {
    everyMs: 1_000,
    timeoutMs: 1_000 * CALM_S,
    what: 'normal again',
  });
});

it('an instance that is killed is named', async ({ annotate }) => {
  second.process.signal('SIGKILL');
  await waitFor(
    async () => (await reasons()).some((one) => one.code === 'instance_gone' && /second/.test(one.text)),
    {
      everyMs: 500,
      timeoutMs: 1_000 * NAMED_WITHIN_S,
      what: 'the reason',
    },
  );
  await annotate(table.join('\n'));
});
