import { describe, expect, it } from 'vitest';
import {
  requireVersion,
  requireWithin,
  VERSION_CHANGED,
  versionOf,
} from '../../../src/operations/requirements.ts';

describe('numbers', () => {
  const BOUNDS = { min: 1, max: 100 };

  describe('requireWithin', () => {
    it('accepts both ends', () => {
      expect(() => requireWithin(BOUNDS, { first: 1, last: 100 })).not.toThrow();
    });

    it.each([0, 101, 1.5, Number.NaN, Number.POSITIVE_INFINITY])('refuses %d by name', (value) => {
      expect(() => requireWithin(BOUNDS, { good: 5, intervalSeconds: value })).toThrow(
        expect.objectContaining({
          kind: 'invalid',
          code: 'invalid_field',
          message: 'a value is out of bounds',
          fields: [{ field: 'intervalSeconds', message: 'must be a whole number from 1 to 100' }],
        }),
      );
    });
  });
});

describe('versions', () => {
  const STATE = versionOf(['realname', 100, null]);

  it('is short, fit for a header, and that of the state alone', () => {
    expect(STATE).toMatch(/^[\w-]{22}$/);
    expect(versionOf(['realname', 100, null])).toBe(STATE);
    expect(versionOf(['realname', 100, 0])).not.toBe(STATE);
    expect(versionOf(['realname,100', null])).not.toBe(STATE);
  });

  it.each([[null], ['any'], [[STATE]], [['another', STATE]]] as const)('lets %j pass', (expected) => {
    expect(() => requireVersion(STATE, expected)).not.toThrow();
  });

  it.each([[[]], [['another']], [[STATE.slice(1)]]])('refuses %j', (expected) => {
    expect(() => requireVersion(STATE, expected)).toThrow(
      expect.objectContaining({
        kind: 'conflict',
        code: VERSION_CHANGED,
        message: 'it does not have the version in If-Match',
        hint: expect.stringContaining('read it again'),
      }),
    );
  });
});
