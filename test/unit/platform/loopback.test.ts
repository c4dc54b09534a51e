import { expect, it } from 'vitest';
import { isLoopback } from '../../../src/platform/loopback.ts';

it('knows loopback names and addresses', () => {
  expect(['localhost', '127.0.0.1', '127.255.0.9', '::1'].every(isLoopback)).toBe(true);
  expect(['0.0.0.0', '::', '128.0.0.1', '::ffff:10.0.0.1', 'localhost.', ''].some(isLoopback)).toBe(false);
});
