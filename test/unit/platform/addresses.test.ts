import { describe, expect, it } from 'vitest';
import { hostAndPort, isLoopback, parseAddressRange } from '../../../src/platform/addresses.ts';

it('knows loopback names and addresses', () => {
  expect(['localhost', '127.0.0.1', '127.255.0.9', '::1'].every(isLoopback)).toBe(true);
  expect(['0.0.0.0', '::', '128.0.0.1', '::ffff:10.0.0.1', 'localhost.', ''].some(isLoopback)).toBe(false);
});

it('writes an address with its port as URLs do', () => {
  expect(hostAndPort('db.example', 5432)).toBe('db.example:5432');
  expect(hostAndPort('::1', 5432)).toBe('[::1]:5432');
});

describe('ranges', () => {
  it.each([
    ['10.0.0.0/8', { address: '10.0.0.0', prefix: 8 }],
    ['10.0.0.5', { address: '10.0.0.5', prefix: 32 }],
    ['10.0.0.5/32', { address: '10.0.0.5', prefix: 32 }],
    ['fd00::/8', { address: 'fd00::', prefix: 8 }],
    ['fd00::1', { address: 'fd00::1', prefix: 128 }],
    ['fd00::1/128', { address: 'fd00::1', prefix: 128 }],
    ['10.0.0.0/33', null],
    ['fd00::/129', null],
    ['10.0.0.0/8/8', null],
    ['10.0.0.0/', null],
    ['10.0.0.0/-1', null],
    ['10.0.0.0/8.5', null],
    ['10.0.0.0/8x', null],
    ['10.0.0.0/x8', null],
    ['example.com/8', null],
    ['', null],
  ])('%j', (text, range) => {
    expect(parseAddressRange(text)).toEqual(range);
  });
});
