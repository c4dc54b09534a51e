// JSON that parsers take and people do not mean.
import { expect, it } from 'vitest';
import { jsonFault } from '../../../src/platform/json.ts';

const nested = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`;

it.each([
  '{}',
  'null',
  '"a:b"',
  '{"a":1,"b":{"a":2},"c":[{"a":3},{"a":4}]}',
  '{"a":"a","b":"{\\"a\\":1,\\"a\\":2}"}',
  '[{"a":1},{"a":1}]',
  '{"list":["x","x"],"x":1}',
  nested(100),
])('%s is as it should be', (json) => {
  expect(jsonFault(json)).toBeNull();
});

it.each([
  ['{"a":1,"a":1}', 'has the field "a" twice'],
  ['{"a" : 1 , "b":[], "a"  :2}', 'has the field "a" twice'],
  ['{"b":{"a":{},"a":1}}', 'has the field "a" twice'],
  ['{"b":[1,{"x":[]}],"b":2}', 'has the field "b" twice'],
  ['{"a":1,"\\u0061":1}', 'has the field "a" twice'],
  ['{"q\\"":1,"q\\"":1}', 'has the field "q\\"" twice'],
  ['{"a\\u202eb\\n":1,"a\\u202eb\\n":1}', 'has the field "a?b?" twice'],
  [`{"${'n'.repeat(200)}":1,"${'n'.repeat(200)}":1}`, `has the field "${'n'.repeat(100)}" twice`],
])('%s: %s', (json, detail) => {
  expect(jsonFault(json)).toEqual({ code: 'repeated_field', detail });
});

it('nesting has an end', () => {
  const fault = { code: 'nested_too_deep', detail: 'is nested more than 100 levels deep' };
  expect(jsonFault(nested(101))).toEqual(fault);
  expect(jsonFault(`${'{"a":'.repeat(101)}1${'}'.repeat(101)}`)).toEqual(fault);
});
