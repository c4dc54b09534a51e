import { Readable } from 'node:stream';
import { expect, it } from 'vitest';
import { linesOf } from '../../../src/platform/lines.ts';

async function read(...pieces: Buffer[]): Promise<string[]> {
  const lines: string[] = [];
  for await (const some of linesOf(Readable.from(pieces))) lines.push(...some);
  return lines;
}

it('ends a line only at a line feed', async () => {
  const text = '{"reason":"one\u2028line\u2029and\rno more"}';
  expect(await read(Buffer.from(`${text}\n\nsecond`))).toEqual([text, '', 'second']);
});

it('keeps a character whole that comes in two pieces', async () => {
  const bytes = Buffer.from('停机\n复机\n');
  expect(await read(bytes.subarray(0, 4), bytes.subarray(4, 8), bytes.subarray(8))).toEqual(['停机', '复机']);
});
