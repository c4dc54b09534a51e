// The peers of bench:peers do the job that they are measured at; the bench itself is not part of npm test.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startSimulator } from '../../../src/gateway/simulate/simulator.ts';
import { Contender } from '../../bench/peers/pollers.ts';
import { waitFor } from '../../support/wait-for.ts';

const FLEET = { cards: 100, intervalSeconds: 2, concurrency: 8 };
const ROUNDS = 3;

test.each(['bullmq', 'graphile-worker'] as const)(
  'the peer on %s polls each card once an interval, and stores and logs what it reads',
  async (name) => {
    const simulator = await startSimulator({ host: '127.0.0.1', port: 0 });
    onTestFinished(() => simulator.close());
    const contender = await Contender.open(name, FLEET);
    onTestFinished(() => contender.close());
    const startedAt = new Date();

    const poller = await contender.startFirst(simulator.url);
    await waitFor(() => simulator.stats().byInterface.flow >= ROUNDS * FLEET.cards, { what: 'three rounds' });
    const elapsedSeconds = (Date.now() - startedAt.getTime()) / 1_000;
    expect(simulator.stats().requests).toBeLessThanOrEqual(
      FLEET.cards * (elapsedSeconds / FLEET.intervalSeconds + 1),
    );
    expect(await contender.cardsNotPolledSince(startedAt)).toBe(0);
    await poller.stop();
    expect(readFileSync(join(contender.stack.logDir, 'poller.log'), 'utf8')).toContain('card polled');
  },
);
