import { expect, it } from 'vitest';
import { freePort } from '../../support/free-port.ts';

it('a port is given once, also before its server listens', async () => {
  const ports: number[] = [];
  for (let i = 0; i < 300; i += 1) ports.push(await freePort());
  expect(new Set(ports).size).toBe(300);
});
