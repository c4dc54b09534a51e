import { expect, it } from 'vitest';
import { endOfReply } from '../../world/live/reply.ts';

it.each([
  '+OK\r\n',
  '-ERR no\r\n',
  ':12\r\n',
  '$-1\r\n',
  '$0\r\n\r\n',
  '$4\r\na\r\nb\r\n',
  '*-1\r\n',
  '*0\r\n',
  '_\r\n',
  ',1.5\r\n',
  '%1\r\n+a\r\n*1\r\n#t\r\n',
  '*3\r\n:1\r\n*2\r\n$1\r\na\r\n$-1\r\n+x\r\n',
])('finds the end of the reply %j, once all of it is there', (reply) => {
  const bytes = Buffer.from(`:7\r\n${reply}:8\r\n`);
  expect(endOfReply(bytes, 4)).toBe(4 + reply.length);
  for (let size = 4; size < 4 + reply.length; size += 1)
    expect(endOfReply(bytes.subarray(0, size), 4)).toBeNull();
});
