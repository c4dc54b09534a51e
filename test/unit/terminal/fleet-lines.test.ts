import { Chalk } from 'chalk';
import { expect, it } from 'vitest';
import { TASK_TYPES } from '../../../src/domain/task-type.ts';
import { capacityFacts, capacityLine, fleetFacts } from '../../../src/terminal/fleet-lines.ts';
import { Style } from '../../../src/terminal/style.ts';
import { OVERVIEW } from '../cli/bodies.ts';

const NUMBERS = { rate: String, seconds: (value: number) => `${value}s` };
const FREE = {
  demand_per_second: 10,
  capacity_per_second: 1_000,
  bound_by: 'concurrency' as const,
  headroom_percent: 99,
  drain_seconds: 0,
  held_by: null,
};
const TOO_MUCH = {
  demand_per_second: 100,
  capacity_per_second: 35,
  bound_by: 'concurrency' as const,
  headroom_percent: -185.7,
  drain_seconds: null,
  held_by: null,
};
const fleet = { headroom_task_type: null, advice: null };
const tasksOf = (...capacities: readonly (typeof OVERVIEW.tasks)[number]['capacity'][]) =>
  capacities.map((capacity, i) => ({ task_type: TASK_TYPES[i] ?? 'package', capacity }));

it('shows an overloaded task type by its own numbers', () => {
  const overview = {
    tasks: tasksOf(TOO_MUCH, FREE, { ...FREE, demand_per_second: 0 }),
    capacity: {
      ...TOO_MUCH,
      capacity_per_second: 2_035,
      headroom_task_type: 'realname' as const,
      advice: 'raise the limit of realname to 4',
    },
  };
  expect(capacityFacts(overview, NUMBERS)).toEqual([
    'realname needs 100/s, only 35/s possible',
    'carddata 10/s of 1000/s (99 % free)',
    'backlog grows at this rate: raise the limit of realname to 4',
  ]);
  expect(capacityLine(overview, NUMBERS)).toBe(
    'realname needs 100/s, only 35/s possible, backlog grows at this rate: raise the limit of realname to 4',
  );
});

it('says that the rate limits are what is short', () => {
  const paced = { ...TOO_MUCH, bound_by: 'rate_limits' as const };
  const capacity = {
    ...paced,
    headroom_task_type: 'realname' as const,
    advice: 'poll realname 3.2 times less often',
  };
  expect(capacityLine({ tasks: tasksOf(paced, FREE), capacity }, NUMBERS)).toBe(
    'realname needs 100/s, only 35/s possible by the rate limits, backlog grows at this rate: poll realname 3.2 times less often',
  );
});

it('promises nothing while the gateway is dead', () => {
  const held = {
    ...TOO_MUCH,
    capacity_per_second: null,
    bound_by: null,
    headroom_percent: null,
    held_by: 'the gateway is dead',
  };
  const overview = { tasks: tasksOf(held, held, held), capacity: { ...held, ...fleet } };
  const facts = ['demand 100/s', 'backlog waits: the gateway is dead'];
  expect(capacityFacts(overview, NUMBERS)).toEqual(facts);
  expect(capacityLine(overview, NUMBERS)).toBe(facts.join(', '));
});

it('says once what holds several task types back', () => {
  const [first, second] = ['interface realname is dead', 'interface flow is dead'];
  const held = { ...FREE, capacity_per_second: null, headroom_percent: null, drain_seconds: null };
  const overview = {
    tasks: tasksOf({ ...held, held_by: first }, { ...held, held_by: second }),
    capacity: { ...held, ...fleet, held_by: `realname: ${first}; carddata: ${second}` },
  };
  expect(capacityFacts(overview, NUMBERS)).toEqual([
    `realname 10/s, held: ${first}`,
    `carddata 10/s, held: ${second}`,
    'backlog waits: polling is held',
  ]);
});

it('says which task type is held back', () => {
  const held = { ...FREE, capacity_per_second: null, headroom_percent: null, held_by: 'polling is paused' };
  const overview = {
    tasks: tasksOf(held, FREE),
    capacity: { ...held, ...fleet, held_by: 'realname: polling is paused' },
  };
  expect(capacityFacts(overview, NUMBERS)).toEqual([
    'realname 10/s, held: polling is paused',
    'carddata 10/s of 1000/s (99 % free)',
    'no backlog',
  ]);
});

it.each([
  ['an hour is counted', '09:00', /^100 % of the polls of the last hour were on time$/],
  ['fifty minutes are counted', '09:10', /^100 % of the polls of the last hour were on time$/],
  ['a minute is counted', '09:59', /^100 % of the polls since \d\d:\d9 were on time$/],
])('says which polls were on time where %s', (_, since, text) => {
  const on_time = { percent: 100, since: `2026-11-21T${since}:00.000Z`, polls: 6_000, late: 0, worst: null };
  const style = new Style('terminal', Date.parse(OVERVIEW.generated_at), new Chalk({ level: 0 }));
  const facts = fleetFacts({ ...OVERVIEW, on_time }, style, 'free');
  expect(facts.find(({ name }) => name === 'on time')?.value[0].text).toMatch(text);
});
