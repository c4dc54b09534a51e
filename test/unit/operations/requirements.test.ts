import { describe, expect, it } from 'vitest';
import { requireVersion, VERSION_CHANGED, versionOf } from '../../../src/operations/requirements.ts';

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
