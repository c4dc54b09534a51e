// The incidents of `cardpoll demo`. Daemon and gateway are not started; cli-demo.test.ts runs the whole.
import { expect, it, vi } from 'vitest';
import { runDemo } from '../../src/demo.ts';

const setCapacity = vi.hoisted(() => vi.fn());
vi.mock('../../src/gateway/simulator.ts', () => ({
  startSimulator: async () => ({ url: 'http://127.0.0.1:1', setCapacity, close: async () => {} }),
}));
vi.mock('../../src/wiring.ts', () => ({
  startDaemon: async (
    _config: unknown,
    _teardown: unknown,
    hooks: { prepare: (records: unknown) => unknown },
  ) => {
    const alerts = { rules: async () => ({ items: [{ name: 'Demo: packages wait' }] }) };
    await hooks.prepare({ cards: { importChunk: async () => {}, count: async () => 50_000 }, alerts });
  },
}));

it('have the size of the fleet that a kept data directory has', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const stop = new AbortController();
  const listen = { host: '127.0.0.1', port: 0 };
  const options = { cards: 1, listen, dataDir: ':memory:', stop: stop.signal };
  let ended: Promise<number> | null = null;
  await new Promise<void>((launched) => {
    ended = runDemo(options, () => launched());
  });
  await vi.advanceTimersByTimeAsync(300_000);
  vi.useRealTimers();
  stop.abort();
  expect(await ended).toBe(0);
  expect(setCapacity).toHaveBeenCalledWith(10);
});
