// What processor time this process gets: measured on the real event loop, by what it does to it.
import { expect, it, onTestFinished } from 'vitest';
import { OwnLoad } from '../../../../src/engine/stats/own-load.ts';
import { waitFor } from '../../../support/wait-for.ts';

it('nothing is known at first, then timers that are late and a busy process show', async () => {
  // A reading a second after the start would show figures.
  const load = new OwnLoad();
  onTestFinished(() => load.stop());
  expect(load.read()).toEqual({ loopDelayMs: null, cpuPercent: null, machinePercent: null });
  const [began, used] = [performance.now(), process.cpuUsage()];
  // Blocks the event loop for most of the time, as too much work does.
  await waitFor(
    () => {
      const since = performance.now();
      while (performance.now() - since < 300);
      return performance.now() - began > 1_500;
    },
    { everyMs: 5, timeoutMs: 60_000, what: 'a second of work' },
  );
  const reading = load.read();
  expect(reading.loopDelayMs).toBeGreaterThan(20);
  const { user, system } = process.cpuUsage(used);
  // Other processes may have most of the processor.
  const usedPercent = (user + system) / 10 / (performance.now() - began);
  expect(reading.cpuPercent).toBeGreaterThan(usedPercent / 2);
  expect(reading.machinePercent).toBeGreaterThan(0);
  expect(load.read(), 'too soon for another one').toEqual(reading);
});
