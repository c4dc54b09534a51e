import { expect, it } from 'vitest';
import { Teardown } from '../../../src/platform/service.ts';

it('undoes the last first, one after the other, and only once', async () => {
  const undone: string[] = [];
  const teardown = new Teardown();
  teardown.add(() => void undone.push('first'));
  teardown.add(async () => {
    await Promise.resolve();
    undone.push('second');
  });
  teardown.add(() => void undone.push('third'));
  await teardown.run();
  await teardown.run();
  expect(undone).toEqual(['third', 'second', 'first']);
});

it('undoes all of them where some fail, then throws the first error', async () => {
  const undone: string[] = [];
  const teardown = new Teardown();
  teardown.add(() => void undone.push('first'));
  teardown.add(() => {
    throw new Error('thrown last');
  });
  teardown.add(() => Promise.reject(new Error('thrown first')));
  await expect(teardown.run()).rejects.toThrow('thrown first');
  expect(undone).toEqual(['first']);
});
