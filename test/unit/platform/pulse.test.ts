import { expect, it } from 'vitest';
import { Pulse } from '../../../src/platform/pulse.ts';
import { FakeClock } from '../../support/fake-clock.ts';

it('names a loop that made no pass for more than 15 s, until it makes one', () => {
  const clock = new FakeClock();
  const [idle, stuck] = [
    { name: 'idle', passes: 0 },
    { name: 'stuck', passes: 0 },
  ];
  const pulse = new Pulse([idle, stuck], clock);
  for (let second = 0; second <= 15; second += 1) {
    expect(pulse.stuck()).toEqual([]);
    clock.advance(1_000);
    idle.passes += 1;
  }
  expect(pulse.stuck()).toEqual(['stuck']);
  stuck.passes += 1;
  expect(pulse.stuck()).toEqual([]);
});
