// What happens to a fleet of processes: its daemons, their stores and the ways to them, and the gateway as in a world.
import { Redis } from 'ioredis';
import { drawnAllowance, setAllowance } from '../cards.ts';
import { type Fault, lasting } from '../fault.ts';
import { dead } from '../faults/gateway/dead.ts';
import { loses } from '../faults/gateway/loses.ts';
import { slow } from '../faults/gateway/slow.ts';
import { throttles } from '../faults/gateway/throttles.ts';
import type { Random } from '../virtual/random.ts';
import type { ProcessFleet } from './fleet.ts';

type ProcessFault = Fault<ProcessFleet>;

const daemonKilled: ProcessFault = {
  name: 'daemon killed',
  weight: 2,
  begin(fleet, draw) {
    const daemon = draw.oneOf(fleet.daemons);
    daemon.signal('SIGKILL');
    return daemon.id;
  },
};

const daemonFrozen: ProcessFault = {
  name: 'daemon frozen',
  weight: 2,
  begin(fleet, draw) {
    const daemon = draw.oneOf(fleet.daemons);
    // Shorter and longer than its leases (15 s), and than it is known for.
    const ms = draw.oneOf([2_000, 10_000, 25_000, 50_000]);
    daemon.signal('SIGSTOP');
    lasting(fleet, ms, () => daemon.signal('SIGCONT'));
    return `${daemon.id} for ${ms} ms`;
  },
};

const daemonEnded: ProcessFault = {
  name: 'daemon restarted',
  begin(fleet, draw) {
    const daemon = draw.oneOf(fleet.daemons);
    daemon.signal('SIGTERM');
    return daemon.id;
  },
};

const redisFrozen: ProcessFault = {
  name: 'Redis frozen',
  begin(fleet, draw) {
    const server = draw.oneOf(fleet.redis);
    const ms = draw.between(1_000, 20_000);
    const isNew = fleet.takeAway(server, ms, { begin: () => server.pause(), end: () => server.resume() });
    return isNew ? `port ${server.port} for ${ms} ms` : null;
  },
};

const redisKilled: ProcessFault = {
  name: 'Redis killed',
  begin(fleet, draw) {
    const server = draw.oneOf(fleet.redis);
    const ms = draw.between(500, 15_000);
    const isNew = fleet.takeAway(server, ms, {
      begin: async () => {
        fleet.loseLiveData();
        await server.kill('SIGKILL');
      },
      end: async () => {
        await server.start();
        fleet.loseLiveData();
      },
    });
    return isNew ? `port ${server.port} is empty after ${ms} ms` : null;
  },
};

const redisFlushed: ProcessFault = {
  name: 'live data lost',
  weight: 0.5,
  async begin(fleet, draw) {
    const server = draw.oneOf(fleet.redis);
    const client = new Redis(server.url, { lazyConnect: true, connectTimeout: 1_000, commandTimeout: 2_000 });
    client.on('error', () => {});
    try {
      await client.connect();
      await client.flushall();
    } catch {
      return null;
    } finally {
      client.disconnect();
    }
    fleet.loseLiveData();
    return `port ${server.port} is empty`;
  },
};

const postgresFrozen: ProcessFault = {
  name: 'PostgreSQL frozen',
  begin(fleet, draw) {
    const { postgres } = fleet;
    const ms = draw.between(1_000, 20_000);
    const isNew = fleet.takeAway(postgres, ms, {
      begin: () => postgres.pause(),
      end: () => postgres.resume(),
    });
    return isNew ? `for ${ms} ms` : null;
  },
};

const postgresKilled: ProcessFault = {
  name: 'PostgreSQL killed',
  begin(fleet, draw) {
    const { postgres } = fleet;
    const ms = draw.between(500, 15_000);
    const isNew = fleet.takeAway(postgres, ms, {
      begin: () => postgres.kill('SIGKILL'),
      end: () => postgres.start(),
    });
    return isNew ? `for ${ms} ms` : null;
  },
};

const postgresFailsOver: ProcessFault = {
  name: 'PostgreSQL fails over',
  weight: 0.5,
  begin: (fleet, draw) => fleet.failOver(draw),
};

const cut: ProcessFault = {
  name: 'way to a store cut',
  weight: 2,
  begin(fleet, draw) {
    const { links, said } = someLinks(fleet, draw);
    const ms = draw.between(1_000, 30_000);
    for (const link of links) link.cut();
    lasting(fleet, ms, () => {
      for (const link of links) link.restore();
    });
    return `${said} for ${ms} ms`;
  },
};

const halfOpen: ProcessFault = {
  name: 'way to a store silent',
  weight: 2,
  begin(fleet, draw) {
    const { links, said } = someLinks(fleet, draw);
    const ms = draw.between(1_000, 30_000);
    for (const link of links) link.swallow();
    lasting(fleet, ms, () => {
      for (const link of links) link.restore();
    });
    return `${said} for ${ms} ms`;
  },
};

function someLinks({ daemons }: ProcessFleet, draw: Random) {
  const chosen = draw.chance(0.4) ? daemons : [draw.oneOf(daemons)];
  const store = draw.oneOf(['live', 'records'] as const);
  const links = chosen.flatMap(({ ways }) => ways[store] ?? []);
  return { links, said: `${chosen.map(({ id }) => id).join(', ')} to the ${store} store` };
}

const imports: ProcessFault = {
  name: 'cards imported',
  weight: 2,
  begin(fleet, draw) {
    const all = [...fleet.cards.values()];
    const cards = new Set(Array.from({ length: draw.between(1, 10) }, () => draw.oneOf(all)));
    const known = [...cards].map((card) =>
      setAllowance(card, drawnAllowance(card, draw), () => fleet.time.now),
    );
    void fleet.importCards(draw, cards).then(() => {
      for (const knows of known) knows();
    });
    return [...cards].map(({ cardId, allowanceMb }) => `${cardId} ${allowanceMb ?? ''}`).join('; ');
  },
};

export const PROCESS_FAULTS: readonly ProcessFault[] = [
  ...[daemonKilled, daemonFrozen, daemonEnded],
  ...[redisFrozen, redisKilled, redisFlushed, postgresFrozen, postgresKilled, postgresFailsOver],
  ...[cut, halfOpen, imports],
  ...[slow, dead, loses, throttles],
];
