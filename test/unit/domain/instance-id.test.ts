import { expect, it } from 'vitest';
import { instanceIdOf, instanceLabel } from '../../../src/domain/instance-id.ts';

it('an instance is named by its host and its name, or process id', () => {
  expect(instanceLabel(instanceIdOf('db-3', 'node1', '24a0ff'))).toBe('db-3-node1');
  expect(instanceLabel(instanceIdOf('db-3', 4711, '000001'))).toBe('db-3-4711');
});

it('an id of another form is its name', () => {
  expect(instanceLabel('0f3b1d52-6c44-4f0e-9c63-0a1b2c3d4e5f')).toBe('0f3b1d52-6c44-4f0e-9c63-0a1b2c3d4e5f');
});
