import { expect, it } from 'vitest';
import { failed, ok, reasonFindings, skipped, unknown, warning } from '../../../src/domain/finding.ts';

const REASON = {
  code: 'paused',
  severity: 'warning',
  text: 'realname: paused',
  command: 'cardpoll resume realname',
  since: new Date('2026-11-21T09:58:59.999Z'),
} as const;

const findingOf = (reason: Parameters<typeof reasonFindings>[0][number]) => reasonFindings([reason], 90)[0];

it('a reason of the health keeps its words and its command, and says since which minute', () => {
  expect(findingOf(REASON)).toEqual({
    check: 'paused',
    status: 'warning',
    detail: 'realname: paused (since 2026-11-21T09:58Z)',
    hint: null,
    command: 'cardpoll resume realname',
  });
  expect(findingOf({ ...REASON, severity: 'alert', since: null })).toMatchObject({
    status: 'failed',
    detail: 'realname: paused',
  });
});

it('an alert of a backlog that drains is a warning that says so', () => {
  const backlog = { ...REASON, code: 'queue_backlog', severity: 'alert' } as const;
  const [draining, ...others] = reasonFindings([backlog, { ...backlog, code: 'interval_missed' }], 89.2);
  expect(draining).toMatchObject({
    status: 'warning',
    detail: expect.stringContaining('gone in about 1m 30s'),
  });
  expect([...others, ...reasonFindings([backlog], null)].map(({ status }) => status)).toEqual([
    'failed',
    'failed',
  ]);
});

it('never names the doctor as the next command of the doctor', () => {
  expect(findingOf({ ...REASON, command: 'cardpoll doctor' })).toMatchObject({
    hint: 'docs/runbook.md, section paused',
    command: null,
  });
});

it('a consequence names its cause, which has the command', () => {
  expect(findingOf({ ...REASON, causedBy: 'overloaded' })).toMatchObject({
    hint: 'it follows from overloaded',
    command: null,
  });
});

it('says how bad it is by the name it is made with, and what to do where that is known', () => {
  expect([ok('redis', 'answers'), skipped('redis', 'embedded')]).toEqual([
    { check: 'redis', status: 'ok', detail: 'answers', hint: null, command: null },
    { check: 'redis', status: 'skipped', detail: 'embedded', hint: null, command: null },
  ]);
  const remedy = { hint: 'look', command: 'cardpoll stats' };
  for (const [make, status] of [
    [warning, 'warning'],
    [failed, 'failed'],
    [unknown, 'unknown'],
  ] as const) {
    expect(make('redis', 'slow', remedy)).toEqual({ check: 'redis', status, detail: 'slow', ...remedy });
    expect(make('redis', 'slow')).toMatchObject({ status, hint: null, command: null });
  }
});
