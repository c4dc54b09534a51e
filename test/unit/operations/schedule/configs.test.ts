import { expect, it } from 'vitest';
import type { PollingConfig } from '../../../../src/domain/schedule/polling-config.ts';
import { configVersion, problemsOf } from '../../../../src/operations/schedule/configs.ts';

const base: PollingConfig = {
  id: 9,
  name: 'traffic',
  taskType: 'carddata',
  cardCondition: 'any',
  carrierId: null,
  intervalSeconds: 60,
  priority: 0,
  status: 1,
};

let offered = true;

function problems(
  own: Partial<PollingConfig>,
  others: ReadonlyArray<Partial<PollingConfig>> = [],
  members: number | null = 5,
): string[] {
  const config = { ...base, ...own };
  return problemsOf(config, {
    all: [config, ...others.map((other) => ({ ...base, ...other }))],
    members,
    rateLimits: [],
    offers: (name) => offered && name === 'flow',
  });
}

it('names an interface that the gateway does not offer', () => {
  offered = false;
  expect(problems({})).toEqual(['the profile of the gateway does not offer flow']);
  offered = true;
});

it('finds nothing wrong with a config that polls cards', () => {
  expect(problems({})).toEqual([]);
  expect(problems({}, [{ id: 1, carrierId: 7 }], null)).toEqual([]);
});

it.each([
  ['one config', [{ id: 1 }], 'every card it matches is polled by config 1'],
  [
    'two configs together',
    [
      { id: 1, cardCondition: 'verified' },
      { id: 2, cardCondition: 'not_verified', priority: 3 },
    ],
    'every card it matches is polled by config 2 and 1',
  ],
] as const)('says that %s takes all its cards', (_, others, problem) => {
  expect(problems({}, others, 0)).toEqual([problem]);
});

it('does not count configs that leave some of its cards, or lose', () => {
  expect(problems({}, [{ id: 1, carrierId: 7 }, { id: 2, cardCondition: 'verified' }, { id: 12 }])).toEqual(
    [],
  );
  expect(problems({ carrierId: 7 }, [{ id: 1, carrierId: 8 }])).toEqual([]);
});

it('looks at the cards of its own condition only', () => {
  const verified = { cardCondition: 'verified' } as const;
  expect(problems(verified, [{ id: 1, ...verified }])).toEqual([
    'every card it matches is polled by config 1',
  ]);
  expect(problems(verified, [{ id: 1, cardCondition: 'not_verified' }])).toEqual([]);
});

it.each([1, 2_592_000])('takes an interval at its bounds: %i', (intervalSeconds) => {
  expect(problems({ intervalSeconds })).toEqual([]);
});

it('does not take a config of another task type for an enabled one', () => {
  expect(problems({ status: 0 }, [{ id: 12, taskType: 'realname' }])).toEqual([
    'no enabled config polls carddata',
  ]);
  expect(problems({ intervalSeconds: 0 }, [{ id: 12, status: 0 }])).toHaveLength(1);
});

it('reports that no card matches, an interval set in SQL, and a type that is not polled', () => {
  expect(problems({ carrierId: 99 }, [], 0)).toEqual(['no card matches it']);
  expect(problems({ intervalSeconds: 2_592_001 })).toEqual([
    'interval_seconds must be a whole number from 1 to 2592000',
  ]);
  expect(problems({ status: 0 })).toEqual(['no enabled config polls carddata']);
});

it.each<Partial<PollingConfig>>([
  { id: 2 },
  { name: 'other' },
  { taskType: 'package' },
  { cardCondition: 'verified' },
  { carrierId: 0 },
  { intervalSeconds: 3_601 },
  { priority: 1 },
  { status: 0 },
])('%j makes another version, and what polling makes of it does not', (patch) => {
  expect(configVersion({ ...base, ...patch })).not.toBe(configVersion(base));
  expect(configVersion({ ...base, members: 9, problems: ['x'] } as PollingConfig)).toBe(configVersion(base));
});
