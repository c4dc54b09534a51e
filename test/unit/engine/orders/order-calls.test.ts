// One order: what is called, recorded and logged for every answer of the gateway and of the claim. On a real gateway, database and
// cache: test/integration/engine/orders/order-calls.test.ts.
import { pino } from 'pino';
import { beforeEach, describe, expect, it } from 'vitest';
import type { AuditEntry } from '../../../../src/domain/audit.ts';
import { MonthCalendar } from '../../../../src/domain/cards/month-calendar.ts';
import type { InterfaceName } from '../../../../src/domain/gateway-interface.ts';
import { OrderCalls, type OrderCallsDeps } from '../../../../src/engine/orders/order-calls.ts';
import { GatewayError, type Pass } from '../../../../src/gateway/gateway.ts';
import type { Order } from '../../../../src/store/ports/records/order-records.ts';
import type { ResumeClaim } from '../../../../src/store/ports/records/resume-records.ts';
import type { StopClaim } from '../../../../src/store/ports/records/stop-records.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { UNLIMITED } from '../../../support/stop-rules.ts';

const LEASE_MS = 15_000;
const CARD = {
  cardId: 7,
  iccid: '89860000000000000007',
  vendorId: null,
  carrierId: 1,
  realNameVerified: true,
};
const STOP: Order = { ...CARD, kind: 'stop', isOperators: false };
const RESUME: Order = { ...CARD, kind: 'resume', isOperators: true };
const SAME = { card_id: 7, iccid: CARD.iccid };
const MONTH = '2026-11';

let clock: FakeClock;
let stopClaim: StopClaim;
let resumeClaim: ResumeClaim;
let claimTakesMs: number;
let gatherTakesMs: number;
/** What the gateway answers to a call with an effect, and shows before and after it. */
let effect: unknown;
let before: unknown;
let after: unknown;
let recorded: object | null;
let gaveUp: boolean;
/** How long the vendor works on the call, as the answer to it and the status after it say. */
let pendingForMs: { answer?: number; status?: number };
let called: string[];
let asked: unknown[][];
let entries: AuditEntry[];
let logged: Array<Record<string, unknown>>;
/** Passes that were neither used nor given back. */
let passes: number;

beforeEach(() => {
  clock = new FakeClock('2026-11-15T00:00:00Z');
  stopClaim = { state: 'granted', month: MONTH, attempt: 3 };
  resumeClaim = { state: 'granted', runId: 'r', attempt: 3 };
  [claimTakesMs, gatherTakesMs, passes, gaveUp, effect] = [0, 0, 0, false, null];
  [called, asked, entries, logged] = [[], [], [], []];
  pendingForMs = {};
});

/** @param shown what the gateway shows before and after the call */
function carryOut(
  order: Order,
  shown: readonly [unknown, unknown],
  entry: object | null = {},
): Promise<void> {
  [[before, after], recorded] = [shown, entry];
  const noted =
    <T>(what: string, answer: () => T) =>
    async (...question: unknown[]) => {
      const isOrder = (one: unknown) => typeof one === 'object' && one !== null && 'kind' in one;
      asked.push([what, ...question.map((one) => (isOrder(one) ? 'card' : one))]);
      return answer();
    };
  const claimed = <T>(what: string, answer: () => T) =>
    noted(what, () => {
      clock.advance(claimTakesMs);
      return answer();
    });
  const complete = (what: string) => noted(what, () => recorded as AuditEntry | null);
  const calls = new OrderCalls({
    gateway: {
      call: async (name) => {
        called.push(name);
        const isCalled = called.includes('stop') || called.includes('start');
        const shown = isCalled ? after : before;
        const status = typeof shown === 'function' ? shown() : shown;
        const value = name === 'card_status' ? status : effect;
        if (value instanceof Error) throw value;
        const forMs = name === 'card_status' ? isCalled && pendingForMs.status : pendingForMs.answer;
        return { value: value as string, durationMs: 1, ...(forMs ? { pendingForMs: forMs } : {}) };
      },
      isStoppedStatus: (status) => status === 'stopped',
    },
    records: {
      stops: {
        claim: claimed('claim', () => stopClaim),
        complete: complete('complete'),
        acknowledge: noted('acknowledge', () => ({ calls: 2, retryInMs: 60_000 })),
        abandon: noted('abandon', () => {}),
      },
      resumes: {
        claim: claimed('claim resume', () => resumeClaim),
        complete: complete('complete resume'),
        acknowledge: noted('acknowledge resume', () => gaveUp),
        abandon: noted('abandon resume', () => gaveUp),
      },
    } as OrderCallsDeps['records'],
    reader: { forget: async (cardIds) => void asked.push(['forget', ...cardIds]) },
    audit: { log: (one) => void entries.push(one) },
    calendar: new MonthCalendar('Asia/Shanghai'),
    stopRules: () => UNLIMITED,
    fleetNow: () => clock.now(),
    leaseMs: LEASE_MS,
    clock,
    log: pino({ base: null, timestamp: false }, { write: (line: string) => logged.push(JSON.parse(line)) }),
  });
  const gather = async (name: InterfaceName): Promise<Pass> => {
    if (name !== 'card_status') clock.advance(gatherTakesMs);
    passes += name === 'card_status' ? 0 : 1;
    let isOpen = name !== 'card_status';
    return {
      giveBack: () => {
        passes -= Number(isOpen);
        isOpen = false;
      },
    };
  };
  return calls.carryOut(order, gather);
}

const stopEntry = { after: { used_mb: 11, allowance_mb: 10 } };
const resumeEntry = (stopped: boolean) => ({ before: { stopped }, after: {} });
const whats = () => asked.map(([what]) => what);

describe('a stop', () => {
  it.each(['granted', 'unresolved'] as const)(
    '%s: is called, and recorded when the gateway shows it',
    async (state) => {
      stopClaim = { state, month: MONTH, attempt: 3 };
      await carryOut(STOP, ['active', 'stopped'], stopEntry);
      expect(called).toEqual(['card_status', 'stop', 'card_status']);
      expect(asked).toEqual([
        ['claim', 'card', MONTH, LEASE_MS, UNLIMITED],
        ['complete', 'card', MONTH],
        ['forget', 7],
      ]);
      expect(entries).toHaveLength(1);
      const fields = { usage_month: MONTH, used_mb_month: 11, allowance_mb: 10 };
      expect(logged).toEqual([{ level: 30, ...SAME, ...fields, msg: '停机' }]);
      expect(passes).toBe(0);
    },
  );

  it('is recorded, and not called, when it shows already', async () => {
    await carryOut(STOP, ['stopped', 'stopped'], null);
    expect([called, whats(), logged]).toEqual([['card_status'], ['complete', 'forget'], []]);
  });

  it.each<[StopClaim, number]>([
    [{ state: 'claimed' }, 0],
    [{ state: 'unconfirmed' }, 0],
    [{ state: 'resuming' }, 0],
    [{ state: 'other_iccid' }, 0],
    [{ state: 'not_over' }, 0],
    [{ state: 'done' }, 0],
    [{ state: 'held', heldBy: 'budget_hour', isNew: true }, 1],
    [{ state: 'held', heldBy: 'budget_hour', isNew: false }, 0],
    [{ state: 'observed', isNew: true }, 1],
    [{ state: 'observed', isNew: false }, 0],
  ])('is not called where the claim says %o', async (answer, lines) => {
    stopClaim = answer;
    await carryOut(STOP, ['active', 'stopped']);
    expect([called, whats(), logged.length]).toEqual([['card_status'], ['claim', 'forget'], lines]);
    expect(passes).toBe(0);
  });

  it('is logged with the number of its calls when it was acknowledged without effect', async () => {
    await carryOut(STOP, ['active', 'active']);
    expect(asked[1]).toEqual(['acknowledge', 7, MONTH, 3, null]);
    const fields = { usage_month: MONTH, attempts: 2, retry_in_ms: 60_000, reason: '停卡未确认' };
    expect(logged).toEqual([{ level: 40, ...SAME, ...fields, msg: 'stop_unconfirmed' }]);
  });
});

describe('a stop that the vendor works on', () => {
  it.each([
    ['the answer', { answer: 300_000 }],
    ['the status after it', { status: 300_000 }],
  ])('is under way, as %s says: no warning', async (_, said) => {
    pendingForMs = said;
    await carryOut(STOP, ['active', 'active']);
    expect(asked[1]).toEqual(['acknowledge', 7, MONTH, 3, 300_000]);
    const fields = { order: 'stop', at_most_ms: 300_000 };
    expect(logged).toEqual([{ level: 30, ...SAME, ...fields, msg: 'order under way' }]);
  });

  it('is done when the status shows it at once', async () => {
    pendingForMs = { answer: 300_000 };
    await carryOut(STOP, ['active', 'stopped'], stopEntry);
    expect(whats()).toEqual(['claim', 'complete', 'forget']);
  });

  it('is not called again', async () => {
    stopClaim = { state: 'pending' };
    await carryOut(STOP, ['active', 'active']);
    expect([called, whats(), logged]).toEqual([['card_status'], ['claim', 'forget'], []]);
  });

  it('is unconfirmed when its time is over, and called again', async () => {
    stopClaim = { state: 'unresolved', month: MONTH, attempt: 3, overdueCalls: 1 };
    await carryOut(STOP, ['active', 'stopped'], stopEntry);
    expect(called).toEqual(['card_status', 'stop', 'card_status']);
    expect(logged.map(({ msg }) => msg)).toEqual(['stop_unconfirmed', '停机']);
  });
});

describe('a resume', () => {
  it('is called, and recorded when the gateway shows it; a stop that was made is recorded before', async () => {
    await carryOut(RESUME, ['stopped', 'active'], { ...resumeEntry(true), ...stopEntry });
    expect(called).toEqual(['card_status', 'start', 'card_status']);
    expect(asked).toEqual([
      ['complete', 'card', MONTH],
      ['claim resume', 'card', true, LEASE_MS],
      ['complete resume', 'card', 'r', MONTH],
      ['forget', 7],
    ]);
    expect(logged.map(({ msg }) => msg)).toEqual(['停机', '复机']);
    expect(passes).toBe(0);
  });

  it.each<[ResumeClaim, string[]]>([
    [{ state: 'running', runId: 'r' }, ['claim resume', 'complete resume', 'forget']],
    [{ state: 'settling', runId: 'r' }, ['claim resume', 'forget']],
    [{ state: 'none' }, ['claim resume', 'forget']],
  ])('is not called for a card that runs: %o', async (answer, told) => {
    resumeClaim = answer;
    await carryOut(RESUME, ['active', 'active'], resumeEntry(true));
    expect([called, whats()]).toEqual([['card_status'], told]);
  });

  it.each([
    ['it was known as stopped, or a call resumed it', true, 1],
    ['it was not known as stopped and runs without a call', false, 0],
  ])('logs that a card was resumed: %s', async (_, stopped, lines) => {
    resumeClaim = { state: 'running', runId: 'r' };
    await carryOut(RESUME, ['active', 'active'], resumeEntry(stopped));
    expect(logged).toHaveLength(lines);
  });

  it.each(['claimed', 'unconfirmed', 'stopping', 'other_iccid'] as const)(
    'is not called where the claim says %s',
    async (state) => {
      resumeClaim = { state, runId: 'r' };
      await carryOut(RESUME, ['stopped', 'active'], null);
      expect([called, whats(), passes]).toEqual([['card_status'], ['complete', 'claim resume', 'forget'], 0]);
    },
  );

  it('is under way while the vendor works on it', async () => {
    pendingForMs = { answer: 300_000 };
    await carryOut(RESUME, ['stopped', 'stopped'], null);
    expect(asked.at(-2)).toEqual(['acknowledge resume', 7, 'r', 3, 300_000]);
    expect(logged).toMatchObject([{ level: 30, order: 'resume', msg: 'order under way' }]);
  });

  it('says when its card is given up because the last call had no effect in its time', async () => {
    resumeClaim = { state: 'failed', runId: 'r' };
    await carryOut(RESUME, ['stopped', 'stopped'], null);
    expect(called).toEqual(['card_status']);
    expect(logged).toMatchObject([{ msg: 'resume failed, no more attempts' }]);
  });

  it('says when its card is given up', async () => {
    gaveUp = true;
    await carryOut(RESUME, ['stopped', 'stopped'], null);
    expect(asked.at(-2)).toEqual(['acknowledge resume', 7, 'r', 3, null]);
    expect(logged).toEqual([{ level: 40, ...SAME, run_id: 'r', msg: 'resume failed, no more attempts' }]);
  });
});

describe.each([
  ['stop', STOP, 'active', [7, MONTH, 3]],
  ['resume', RESUME, 'stopped', [7, 'r', 3]],
] as const)('the call of a %s', (kind, order, shown, fence) => {
  const suffix = kind === 'resume' ? ' resume' : '';

  it('is not made when the lease is half over, and the claim is given back', async () => {
    claimTakesMs = LEASE_MS / 2;
    const why = 'the lease was over before the call';
    await expect(carryOut(order, [shown, shown], null)).rejects.toMatchObject({
      failure: 'held',
      message: why,
    });
    expect(called).toEqual(['card_status']);
    expect(asked.at(-2)).toEqual([`abandon${suffix}`, ...fence, why, false]);
    expect(passes).toBe(0);
  });

  it('is not taken for one without effect when the status question gets no answer', async () => {
    const lost = new GatewayError('timeout', 'timed out');
    await expect(carryOut(order, [shown, lost], null)).rejects.toBe(lost);
    expect(whats().some((what) => /acknowledge|abandon/.test(String(what)))).toBe(false);
  });

  it.each([
    ['refuses the card', new GatewayError('business', 'no such card'), ['no such card', true]],
    ['is busy', new GatewayError('backpressure', 'HTTP 429'), ['HTTP 429', false]],
    ['does not answer', new GatewayError('timeout', 'timed out'), null],
  ] as const)(
    'gives the claim back only if it certainly had no effect: the gateway %s',
    async (_, error, why) => {
      effect = error;
      await expect(carryOut(order, [shown, shown], null)).rejects.toBe(error);
      const abandoned = asked.filter(([what]) => what === `abandon${suffix}`);
      expect(abandoned).toEqual(why === null ? [] : [[`abandon${suffix}`, ...fence, ...why]]);
    },
  );

  describe('after a long wait and an earlier one of unknown outcome', () => {
    beforeEach(() => {
      gatherTakesMs = 60_000;
      stopClaim = { state: 'unresolved', month: MONTH, attempt: 3 };
      resumeClaim = { state: 'unresolved', runId: 'r', attempt: 3 };
    });

    it('is not made when that one had its effect: the status may have been older', async () => {
      const other = shown === 'active' ? 'stopped' : 'active';
      const statuses = [shown, other];
      await carryOut(order, [() => statuses.shift(), null], { ...resumeEntry(true), ...stopEntry });
      expect(called).toEqual(['card_status', 'card_status']);
      expect(whats().slice(-2)).toEqual([`complete${suffix}`, 'forget']);
      expect(passes).toBe(0);
    });

    it('is left to the next time when that one had none', async () => {
      await carryOut(order, [shown, shown], null);
      expect(called).toEqual(['card_status', 'card_status']);
      expect(asked.at(-2)).toEqual([`abandon${suffix}`, ...fence, 'an earlier call had no effect', false]);
      expect(passes).toBe(0);
    });
  });
});
