// SIGHUP while a daemon starts, held at two places: its stores are open, and its port is open but its engine has not started. It
// calls the gateway with the credentials that it read last.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { loadDaemonConfig } from '../../../src/config/load-config.ts';
import { demoCards } from '../../../src/gateway/simulate/simulated-fleet.ts';
import { Teardown } from '../../../src/platform/service.ts';
import { startDaemon } from '../../../src/wiring.ts';
import { answer, startBadGateway } from '../../support/bad-gateway.ts';
import { freshDatabase, freshRedis } from '../../support/fresh-stores.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

it.each(['stores', 'port'])(
  'a daemon serves the SIGHUP that comes once it has opened its %s',
  async (opened) => {
    const teardown = new Teardown();
    const hangups = { came: false, serve: () => {} };
    const gateway = await startBadGateway(answer(200, '{"code":200,"data":{}}'));
    teardown.add(() => gateway.close());
    const logDir = temporaryDirectory('reload-at-start');
    const flags = {
      '--gateway-url': gateway.url,
      '--redis-url': (await freshRedis()).url,
      '--database-url': await freshDatabase(),
      '--listen': '127.0.0.1:0',
      '--log-dir': logDir,
    };
    const load = (token: string) => loadDaemonConfig({ flags, env: { CARDPOLL_GATEWAY_TOKEN: token } });
    try {
      await startDaemon(await load('of-monday'), teardown, {
        prepare: async (records) => {
          await records.cards.importChunk([...demoCards(500)]);
          if (opened !== 'stores') return;
          hangups.serve();
          const log = () => readFileSync(join(logDir, 'worker.log'), 'utf8');
          await vi.waitFor(() => expect(log()).toContain('configuration reloaded'), { timeout: 10_000 });
        },
        refuse: () => {},
        load: () => load('of-tuesday'),
        listening: () => {
          if (opened === 'port') hangups.serve();
        },
        hangups,
        serviceManager: null,
      });
      const tokens = () => gateway.requests.map(({ headers }) => headers.authorization);
      await vi.waitFor(() => expect(tokens()).toContain('Bearer of-tuesday'), { timeout: 20_000 });
      // The engine starts while the configuration is read.
      if (opened === 'stores') expect(tokens()).not.toContain('Bearer of-monday');
    } finally {
      await teardown.run();
    }
  },
);
