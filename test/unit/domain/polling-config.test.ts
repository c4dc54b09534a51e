import { describe, expect, it } from 'vitest';
import { ConfigMatcher, type PollingConfig } from '../../../src/domain/polling-config.ts';

const base: PollingConfig = {
  id: 1,
  name: 'traffic',
  taskType: 'carddata',
  cardCondition: 'any',
  carrierId: null,
  intervalSeconds: 1800,
  priority: 0,
  status: 1,
};
const card = { cardId: 7, carrierId: 3, realNameVerified: false };

describe('ConfigMatcher', () => {
  it('tells verified from unverified cards', () => {
    const matcher = new ConfigMatcher([
      { ...base, id: 1, taskType: 'realname', cardCondition: 'not_verified' },
      { ...base, id: 2, taskType: 'realname', cardCondition: 'verified' },
    ]);
    expect(matcher.match('realname', card)?.id).toBe(1);
    expect(matcher.match('realname', { ...card, realNameVerified: true })?.id).toBe(2);
  });

  it('prefers the higher priority, then the lower id', () => {
    const matcher = new ConfigMatcher([
      { ...base, id: 5 },
      { ...base, id: 4 },
      { ...base, id: 9, carrierId: 3, priority: 10 },
    ]);
    expect(matcher.match('carddata', card)?.id).toBe(9);
    expect(matcher.match('carddata', { ...card, carrierId: 4 })?.id).toBe(4);
  });

  it('keeps a card with its disabled config instead of handing it to the next one', () => {
    const matcher = new ConfigMatcher([
      { ...base, id: 1 },
      { ...base, id: 2, priority: 1, status: 0 },
    ]);
    expect(matcher.match('carddata', card)).toMatchObject({ id: 2, status: 0 });
  });

  it('answers null where nothing matches', () => {
    expect(new ConfigMatcher([{ ...base, carrierId: 8 }]).match('carddata', card)).toBeNull();
    expect(new ConfigMatcher([base]).match('package', card)).toBeNull();
  });
});
