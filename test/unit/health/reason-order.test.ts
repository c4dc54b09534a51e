// The order of reasons: what began first and can explain the others is on top until it is over.
import { describe, expect, it } from 'vitest';
import { FAULT_KINDS } from '../../../src/domain/gateway-fault.ts';
import { REASON_CODES, type ReasonCode } from '../../../src/domain/reasons.ts';
import type { TaskType } from '../../../src/domain/task-type.ts';
import type { KnownChange } from '../../../src/health/change-before.ts';
import { canExplain, LOAD, placeOfHold, STRAIN } from '../../../src/health/explains.ts';
import type { HealthReason } from '../../../src/health/reason.ts';
import { inOrder } from '../../../src/health/reason-order.ts';

const NOW_MS = 1_000_000;

/** @param beganS seconds; null: only just now. */
function reason(code: ReasonCode, beganS: number | null, over: Partial<HealthReason> = {}): HealthReason {
  const since = beganS === null ? null : new Date(1_000 * beganS);
  return {
    code,
    since,
    taskType: 'realname',
    severity: 'alert',
    text: '',
    command: null,
    causedBy: null,
    ...over,
  };
}

/** A shorter interval. */
const change = (atS: number, over: Partial<KnownChange> = {}): KnownChange => ({
  ...{ id: 7, atMs: 1_000 * atS, explains: [...LOAD, ...STRAIN], isImmediate: true, words: '' },
  ...over,
});

type Changes = Partial<Record<ReasonCode, KnownChange>>;

function ordered(reasons: readonly HealthReason[], changes: Changes = {}) {
  return inOrder(reasons, { nowMs: NOW_MS, changeOf: ({ code }) => changes[code] ?? null });
}
const linked = (reasons: readonly HealthReason[], changes?: Changes) =>
  ordered(reasons, changes).map(({ code, causedBy }) => (causedBy === null ? code : `${code} < ${causedBy}`));

describe('the cause that began first stays', () => {
  it.each<[string, HealthReason[], Changes, string[]]>([
    [
      'an interval of 1 s, though the gateway is slow three seconds later for all types',
      [
        reason('own_cpu', 110, { taskType: null }),
        reason('gateway_slow', 105, { taskType: null }),
        reason('overloaded', 102, { severity: 'warning' }),
        reason('interval_missed', 104),
        reason('avg_duration', 106, { taskType: 'package' }),
      ],
      { overloaded: change(100), interval_missed: change(100), avg_duration: change(100) },
      [
        'overloaded',
        'own_cpu < overloaded',
        'gateway_slow < overloaded',
        'interval_missed < overloaded',
        'avg_duration < overloaded',
      ],
    ],
    [
      'a slow gateway: an interval that was set before it does not explain what followed at once',
      [reason('gateway_slow', 502), reason('overloaded', 500), reason('interval_missed', 501)],
      { overloaded: change(100), interval_missed: change(100) },
      ['gateway_slow', 'overloaded < gateway_slow', 'interval_missed < gateway_slow'],
    ],
    [
      'a slow carrier: its calls are in the mean of the gateway, of a task type with too few of them to name it',
      [
        reason('gateway_slow', 512, { taskType: 'carddata', severity: 'warning' }),
        reason('carrier_slow', 508, { taskType: null, severity: 'warning' }),
        reason('avg_duration', 510, { taskType: 'carddata', severity: 'warning' }),
      ],
      {},
      ['carrier_slow', 'gateway_slow < carrier_slow', 'avg_duration < carrier_slow'],
    ],
    [
      'a slow gateway, though an import was made just before',
      [reason('gateway_slow', 146), reason('overloaded', 144), reason('queue_backlog', 144)],
      {
        overloaded: change(142, { isImmediate: false, explains: LOAD }),
        queue_backlog: change(142, { isImmediate: false, explains: LOAD }),
      },
      ['gateway_slow', 'overloaded < gateway_slow', 'queue_backlog < gateway_slow'],
    ],
    [
      'failing polls, though the gateway is slow a minute later',
      [reason('gateway_slow', 146), reason('success_rate', 100)],
      {},
      ['success_rate', 'gateway_slow'],
    ],
    [
      'a short processor, though an interval was set later: that explains its own overload',
      [reason('own_cpu', 100, { taskType: null }), reason('gateway_slow', 101), reason('overloaded', 202)],
      { overloaded: change(200) },
      ['own_cpu', 'gateway_slow < own_cpu', 'overloaded'],
    ],
    [
      'an interval that kills the gateway',
      [reason('breaker_open', 112), reason('overloaded', 102), reason('success_rate', 104)],
      { overloaded: change(100) },
      ['overloaded', 'breaker_open < overloaded', 'success_rate < overloaded'],
    ],
    [
      'an interval, and a token that is refused later, which it cannot explain',
      [
        reason('breaker_open', 112, { kind: 'token' }),
        reason('overloaded', 102),
        reason('success_rate', 104),
      ],
      { overloaded: change(100) },
      ['breaker_open', 'overloaded < breaker_open', 'success_rate < breaker_open'],
    ],
    [
      'a lower limit, which makes no gateway slow',
      [reason('gateway_slow', 105), reason('overloaded', 102)],
      { overloaded: change(100, { explains: LOAD }) },
      ['overloaded', 'gateway_slow'],
    ],
    [
      'a name that is not found, though our own side is slow: nothing slow explains it',
      [reason('redis_slow', 99, { taskType: null }), reason('success_rate', 100, { kind: 'name' })],
      {},
      ['redis_slow', 'success_rate'],
    ],
    [
      'what holds polls back, though they failed before',
      [reason('breaker_open', 200), reason('success_rate', 100, { kind: 'timeout' })],
      {},
      ['breaker_open', 'success_rate < breaker_open'],
    ],
  ])('%s', (_, reasons, changes, order) => {
    expect(linked(reasons, changes)).toEqual(order);
    expect(linked([...reasons].reverse(), changes)[0]).toBe(order[0]);
  });

  it('explains no overload of another task type, but the strain on the gateway that all share', () => {
    const of = (taskType: TaskType) => ({ taskType });
    const reasons = [
      reason('overloaded', 102, of('carddata')),
      reason('overloaded', 104, of('package')),
      reason('gateway_slow', 104, of('package')),
    ];
    const changeOf = ({ taskType }: HealthReason) => (taskType === 'carddata' ? change(100) : null);
    const order = inOrder(reasons, { nowMs: NOW_MS, changeOf });
    expect(order.map(({ code, taskType, causedBy }) => [code, taskType, causedBy])).toEqual([
      ['overloaded', 'carddata', null],
      ['overloaded', 'package', 'overloaded'],
      ['gateway_slow', 'package', 'overloaded'],
    ]);
  });
});

/** Every pair, with every order in time, and with a change before one of them. */
const TIMES = [0, 10, 60, null] as const;
const PAIRS = REASON_CODES.flatMap((a) =>
  REASON_CODES.filter((b) => a !== b).flatMap((b) =>
    TIMES.flatMap((at) => TIMES.map((bt) => [reason(a, at), reason(b, bt)] as const)),
  ),
);

describe('every pair of reasons', () => {
  it('is complete, and at most one follows from the other, which it comes after', () => {
    for (const pair of PAIRS) {
      const order = ordered(pair);
      expect(order.map(({ code }) => code).sort()).toEqual(pair.map(({ code }) => code).sort());
      expect(order[0]?.causedBy).toBeNull();
      expect([null, order[0]?.code]).toContain(order[1]?.causedBy);
    }
  });

  it('has no cause that cannot explain the other, or that began long after it and holds no polls back', () => {
    for (const pair of PAIRS) {
      const [cause, effect] = ordered(pair);
      if (!cause || !effect || effect.causedBy === null) continue;
      expect(canExplain(cause, effect), `${effect.code} < ${cause.code}`).toBe(true);
      const isLater = (cause.since?.getTime() ?? NOW_MS) - (effect.since?.getTime() ?? NOW_MS) > 20_000;
      if (isLater)
        expect(placeOfHold(cause, effect), `${effect.code} < ${cause.code}`).toBeGreaterThanOrEqual(0);
    }
  });

  it('begins with a load that a change brought about, and not with its strain, unless that is a fault of access', () => {
    for (const load of LOAD) {
      for (const strain of STRAIN) {
        for (const kind of [null, ...FAULT_KINDS]) {
          const pair = [reason(strain, 10, { kind }), reason(load, 1)];
          const [first] = ordered(pair, { [load]: change(0) });
          const isAccess = ['name', 'route', 'expired', 'certificate', 'token', 'login', 'proxy'].includes(
            `${kind}`,
          );
          if (!isAccess) expect(first?.code, `${load} ${strain} ${kind}`).toBe(load);
          // Rate limits are short whether calls succeed or not.
          if (isAccess && strain === 'breaker_open' && load !== 'pace_short')
            expect(first?.code).toBe('breaker_open');
        }
      }
    }
  });

  it('has an order that does not depend on which was found first, where they begin at different times', () => {
    for (const [a, b] of PAIRS) {
      if (a.since?.getTime() === b.since?.getTime()) continue;
      const codes = (reasons: readonly HealthReason[]) => linked(reasons);
      expect(codes([a, b])).toEqual(codes([b, a]));
    }
  });
});

it('no set of three makes a circle', () => {
  const codes = REASON_CODES.filter((code) =>
    REASON_CODES.some((other) => canExplain({ code }, { code: other })),
  );
  for (const a of codes)
    for (const b of codes)
      for (const c of codes) {
        if (new Set([a, b, c]).size < 3) continue;
        for (const led of [{}, { [a]: change(0) }]) {
          const order = ordered([reason(a, 1), reason(b, 12), reason(c, 23)], led);
          expect(order).toHaveLength(3);
          expect(order[0]?.causedBy).toBeNull();
        }
      }
});
