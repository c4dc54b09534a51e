import { describe, expect, it } from 'vitest';
import {
  ConfigMatcher,
  misfitOf,
  type PollingConfig,
} from '../../../../src/domain/schedule/polling-config.ts';

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
  it('separates verified from unverified cards', () => {
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

describe('selectionOf', () => {
  const selection = (config: Partial<PollingConfig>, others: Array<Partial<PollingConfig>> = []) => {
    const own = { ...base, id: 50, ...config };
    return new ConfigMatcher([
      own,
      ...others.map((other, i) => ({ ...base, id: i + 1, ...other })),
    ]).selectionOf(own);
  };

  it('differs with condition, carrier, and what configs that win take', () => {
    const selections = [
      selection({}),
      selection({ carrierId: 7 }),
      selection({ cardCondition: 'verified' }),
      selection({}, [{ carrierId: 7 }]),
      selection({}, [{ carrierId: 7 }, { cardCondition: 'verified' }]),
    ];
    expect(new Set(selections).size).toBe(selections.length);
  });

  it('is the same where the same cards are polled', () => {
    const plain = selection({ carrierId: 7 });
    expect(selection({ carrierId: 7, name: 'x', intervalSeconds: 9, status: 0 })).toBe(plain);
    // Other carriers, other types, and configs that lose take nothing away.
    expect(selection({ carrierId: 7 }, [{ carrierId: 8 }, { taskType: 'package' }, { priority: -1 }])).toBe(
      plain,
    );
    const both = selection({}, [
      { carrierId: 7, priority: 2 },
      { carrierId: 8, priority: 1 },
    ]);
    expect(selection({}, [{ carrierId: 8 }, { carrierId: 7 }])).toBe(both);
  });
});

describe('misfitOf', () => {
  it.each([
    [{}, null],
    [{ carrierId: 3 }, null],
    [{ carrierId: 4 }, 'carrier'],
    [{ cardCondition: 'not_verified' }, null],
    [{ cardCondition: 'verified' }, 'condition'],
    [{ carrierId: 4, cardCondition: 'verified' }, 'carrier'],
  ] as const)('%j', (config, misfit) => {
    expect(misfitOf({ ...base, ...config }, card)).toBe(misfit);
  });
});

describe('winnersOver', () => {
  const own = { ...base, id: 50, carrierId: 3, cardCondition: 'verified' } as const;
  it.each([
    [{ carrierId: null, cardCondition: 'any' }, true],
    [{ carrierId: 3, cardCondition: 'verified' }, true],
    [{ carrierId: 3, cardCondition: 'not_verified' }, false],
    [{ carrierId: 4, cardCondition: 'verified' }, false],
    [{ carrierId: 4, cardCondition: 'any' }, false],
    [{ carrierId: null, cardCondition: 'not_verified' }, false],
  ] as const)('%j: %j', (config, wins) => {
    const other = { ...base, id: 1, ...config };
    expect(new ConfigMatcher([own, other]).winnersOver(own)).toEqual(wins ? [other] : []);
    // Whatever one of them may win over, it does so in turn.
    expect(new ConfigMatcher([{ ...own, priority: 1 }, other]).winnersOver(other)).toHaveLength(wins ? 1 : 0);
  });

  it('is no config where the type has none', () => {
    expect(new ConfigMatcher([]).winnersOver(own)).toEqual([]);
  });
});

it('selections in words', () => {
  const verified = { ...base, id: 2, cardCondition: 'verified' } as const;
  const all = { ...base, id: 3, carrierId: 0 };
  const matcher = new ConfigMatcher([verified, all]);
  expect(matcher.selectionOf(verified)).toBe('verified/*');
  expect(matcher.selectionOf(all)).toBe('any/0 except verified/*');
});
