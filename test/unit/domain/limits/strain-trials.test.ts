// What is concluded from refused calls, second by second. How it works together with latency and growth:
// effective-limit.test.ts; with workers and a gateway: test/integration/engine/limits/flow-control.test.ts.
import { beforeEach, describe, expect, it } from 'vitest';
import type { FleetTick } from '../../../../src/domain/limits/fleet-tick.ts';
import { type LimitVerdict, StrainTrials } from '../../../../src/domain/limits/strain-trials.ts';
import type { TaskType } from '../../../../src/domain/task-type.ts';
import { draws } from '../../../support/modelled-fleet.ts';

/** A second of a type: calls of 100 ms at its limit, so many of which are refused. */
interface Second {
  readonly calls?: number;
  readonly refused?: number;
  readonly inForce?: number;
  readonly limitReached?: boolean;
  readonly tookMs?: number;
}

let trials: StrainTrials;
let nowMs: number;
beforeEach(() => {
  trials = new StrainTrials();
  nowMs = 0;
});

function tickOf({ calls = 1_000, refused = 0, limitReached = true, tookMs = 100 }: Second): FleetTick {
  const succeeded = calls - refused;
  return {
    seconds: 1,
    succeeded,
    failed: refused,
    durationMs: calls * tookMs,
    succeededMs: succeeded * tookMs,
    backpressure: refused,
    timeouts: 0,
    limitReached,
  };
}

type Seconds = Partial<Record<TaskType, Second>>;

/** Lets so many equal seconds pass. @returns the verdicts of all of them. */
function pass(seconds: Seconds, times = 1): LimitVerdict[] {
  return Array.from({ length: times }, () => {
    nowMs += 1_000;
    const ticks = Object.entries(seconds).map(([taskType, second]) => ({
      taskType: taskType as TaskType,
      tick: tickOf(second),
      inForce: second.inForce ?? 100,
    }));
    return trials.observe(ticks, nowMs);
  }).flat();
}

const of = (verdicts: readonly LimitVerdict[]) =>
  verdicts.map(({ taskType, kind, limit }) => [taskType, kind, limit]);

/** 20 % of 1,000 calls a second refused, at 100 in flight: the trial that follows. */
function begin(seconds: Seconds = { realname: { refused: 200 } }): LimitVerdict[] {
  return pass(seconds, 4);
}

/** What a trial comes to when this is what its seconds show. */
function concluded(after: Seconds): LimitVerdict[] {
  const verdicts = pass(after, 15);
  return verdicts.slice(0, Object.keys(after).length);
}

describe('a trial', () => {
  it('begins with the second window of two seconds that is strained', () => {
    expect(pass({ realname: { refused: 200 } }, 3)).toEqual([]);
    expect(pass({ realname: { refused: 200 } })).toEqual([
      {
        taskType: 'realname',
        kind: 'trial',
        limit: 70,
        load: 100,
        reason: 'testing whether fewer calls help: the gateway refuses 20 % of 2000',
      },
    ]);
    expect(trials.isTrying).toBe(true);
  });

  it('does not begin when the window between was sound, or only a part of a window was strained', () => {
    for (let i = 0; i < 5; i += 1) {
      expect(pass({ realname: { refused: 200 } }, 2)).toEqual([]);
      expect(pass({ realname: {} }, 2)).toEqual([]);
    }
  });

  it.each([
    [1_000, 30, false],
    [1_000, 70, true],
    [100, 10, false],
    [100, 25, true],
    [10, 1, false],
  ])('a trial of %i calls a second needs more than chance: %i refused, %s', (calls, refused, begins) => {
    expect(pass({ realname: { calls, refused } }, 4).length > 0).toBe(begins);
  });

  it('cuts the load to about what was accepted, to a tenth at most', () => {
    const limitAt = (refused: number) => {
      trials = new StrainTrials();
      return begin({ realname: { refused } })[0]?.limit;
    };
    expect([100, 360, 500, 900, 990].map(limitAt)).toEqual([70, 70, 55, 10, 10]);
  });

  it('cuts below the calls in flight where the limit is not used up, their peaks included', () => {
    const idle = { calls: 100, refused: 40, limitReached: false };
    expect(of(begin({ realname: idle }))).toEqual([['realname', 'trial', 8]]);
  });

  it('takes no more for the load than the limit, whatever the calls that ended took', () => {
    expect(begin({ realname: { refused: 200, tookMs: 5_000 } })[0]?.load).toBe(100);
  });

  it('is made by all types of which calls are refused, at equal limits, and by no other', () => {
    const verdicts = begin({
      realname: { refused: 200, inForce: 100 },
      carddata: { calls: 100, refused: 20, inForce: 10 },
      package: {},
    });
    // 110 in flight, of which 70 % are shared by two.
    expect(of(verdicts)).toEqual([
      ['realname', 'trial', 38],
      ['carddata', 'trial', 10],
    ]);
  });

  it('is not made where no lower limit is left', () => {
    expect(pass({ realname: { calls: 10, refused: 8, inForce: 1 } }, 30)).toEqual([]);
    expect(trials.isStrained('realname', nowMs)).toBe(true);
  });

  it('is not made where the load cannot be cut: less than one call in flight', () => {
    const little = { calls: 100, refused: 30, tookMs: 5, limitReached: false };
    expect(pass({ realname: little }, 30)).toEqual([]);
  });

  it('is not made while no call succeeds, nor compared with a window of that time', () => {
    expect(pass({ realname: { refused: 1_000 } }, 10)).toEqual([]);
    expect(pass({ realname: { refused: 200 } }, 2)).toEqual([]);
    expect(trials.isTrying).toBe(false);
  });
});

describe('a verdict', () => {
  it('waits until the calls that were under way have ended, and for two seconds of new ones', () => {
    begin();
    // A second, and the 100 ms that a call takes.
    expect(pass({ realname: {} }, 2)).toEqual([]);
    expect(of(pass({ realname: {} }))).toEqual([['realname', 'strained', 0]]);
  });

  it('is that load is the reason when strain goes with it', () => {
    begin();
    expect(concluded({ realname: { calls: 700 } })).toEqual([
      {
        taskType: 'realname',
        kind: 'strained',
        limit: 0,
        load: 100,
        reason: '20 % of the calls were refused with 100 in flight, 0.0 % with 70',
      },
    ]);
  });

  it('is that load is the reason when more of fewer calls are accepted', () => {
    begin({ realname: { refused: 970 } });
    expect(of(concluded({ realname: { calls: 100, refused: 70 } }))).toEqual([['realname', 'strained', 0]]);
  });

  it.each([160, 120])('is that load is not the reason while %i of 700 are refused', (refused) => {
    begin();
    const [verdict] = concluded({ realname: { calls: 700, refused } });
    expect(verdict).toMatchObject({ kind: 'restored' });
    expect(verdict?.reason).toMatch(/^fewer calls did not help, .* are refused: limit restored$/);
  });

  it('is none when strain grew though the load fell: the trial is repeated from there', () => {
    begin();
    const again = concluded({ realname: { calls: 700, refused: 420, inForce: 70 } });
    expect(of(again)).toEqual([['realname', 'trial', 30]]);
  });

  it('counts as the first strained window of the next trial', () => {
    begin({ realname: { refused: 400 } });
    const after = { realname: { calls: 660, refused: 60, inForce: 66 } };
    expect(of(pass(after, 3))).toEqual([['realname', 'strained', 0]]);
    expect(of(pass(after, 2))).toEqual([['realname', 'trial', 46]]);
  });

  it('is none when nothing succeeds any more: the limits are restored', () => {
    begin();
    const [verdict] = concluded({ realname: { calls: 700, refused: 700 } });
    expect(verdict).toMatchObject({ kind: 'restored' });
    expect(verdict?.reason).toContain('no call succeeds');
    expect(trials.isStrained('realname', nowMs)).toBe(false);
  });

  it('is not that nothing succeeds when hardly any call ended: it waits for ten seconds', () => {
    begin();
    expect(pass({ realname: { calls: 0 } }, 10)).toEqual([]);
    expect(pass({ realname: { calls: 10 } }).length).toBe(1);
  });

  it('is for all that took part, and restores them where the counters of one were lost', () => {
    const both = { realname: { refused: 200 }, carddata: { refused: 200 } };
    begin(both);
    expect(of(concluded({ realname: { calls: 700 }, carddata: { calls: 700 } }))).toEqual([
      ['realname', 'strained', 0],
      ['carddata', 'strained', 0],
    ]);
    begin(both);
    expect(of(pass({ realname: { calls: 700 } }, 4))).toEqual([
      ['realname', 'restored', 0],
      ['carddata', 'restored', 0],
    ]);
  });
});

describe('a share that was tolerated', () => {
  const inVain = (refused: number) => {
    begin({ realname: { refused } });
    return concluded({ realname: { calls: 700, refused: 0.7 * refused } });
  };

  it('is tolerated for five minutes, and a quarter more', () => {
    expect(inVain(300)[0]?.kind).toBe('restored');
    const from = nowMs;
    expect(pass({ realname: { refused: 300 } }, 200)).toEqual([]);
    expect(trials.isStrained('realname', nowMs)).toBe(false);
    expect(pass({ realname: { refused: 390 } }, 4)).toEqual([]);
    while (pass({ realname: { refused: 300 } }).length === 0) expect(nowMs - from).toBeLessThan(320_000);
    expect(nowMs - from).toBeGreaterThan(280_000);
  });

  it('is not tolerated when much more is refused', () => {
    inVain(300);
    expect(pass({ realname: { refused: 600 } }, 4).length).toBe(1);
  });

  it('leaves room for what is accepted, not for what is refused', () => {
    inVain(800);
    expect(pass({ realname: { refused: 830 } }, 4)).toEqual([]);
    expect(pass({ realname: { refused: 900 } }, 4).length).toBe(1);
  });
});

describe('a type without calls', () => {
  it('is strained no more after a minute', () => {
    pass({ realname: { refused: 200 } }, 2);
    expect(trials.isStrained('realname', nowMs)).toBe(true);
    pass({ realname: { calls: 0 } }, 61);
    expect(trials.isStrained('realname', nowMs)).toBe(false);
  });
});

describe.each([0.5, 2, 10, 30])('a gateway that refuses %f %% by chance', (percent) => {
  it('is at its full limit for nearly all of half an hour', () => {
    const draw = draws(3);
    let [limit, full] = [100, 0];
    for (let second = 0; second < 1_800; second += 1) {
      const calls = 4 * limit;
      const refused = Array.from({ length: calls }, draw).filter((one) => one < percent / 100).length;
      for (const verdict of pass({ realname: { calls, refused, inForce: limit, tookMs: 250 } })) {
        limit = verdict.kind === 'trial' ? verdict.limit : 100;
      }
      if (limit === 100) full += 1;
    }
    expect(full / 1_800).toBeGreaterThanOrEqual(0.95);
  });
});
