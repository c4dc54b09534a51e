// Changes of requests that may be sent again: the result of a change is kept with it, on every store, and a repeat gets that
// result instead of making the change again.
import { beforeEach, expect, it } from 'vitest';
import type { Actor } from '../../../src/domain/audit.ts';
import { MonthCalendar } from '../../../src/domain/cards/month-calendar.ts';
import { Audit } from '../../../src/operations/audit.ts';
import type { RecordStore } from '../../../src/store/ports/records/record-store.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { describeBothRecordStores } from './stores.ts';

const CHANGE = { action: 'pause.begin', object: 'task_type all', before: null, after: { seconds: 1 } };
const RESULT = { at: new Date(1_795_000_000_123), none: null, ids: [1, 2], text: '停机 \\u0000 $date' };

describeBothRecordStores('made changes', (db) => {
  let audit: Audit;
  let made: number;
  let known: number;

  beforeEach(async () => {
    audit = over(db.store);
    made = 0;
    await db.sql('DELETE FROM made_changes');
    known = Number((await db.sql('SELECT coalesce(max(id), 0) AS id FROM audit'))[0]?.id);
  });

  function over(records: Pick<RecordStore, 'audit' | 'inTurn' | 'madeChanges'>): Audit {
    const calendar = new MonthCalendar('Asia/Shanghai');
    return new Audit({ records, clock: new FakeClock(1_795_000_000_000), calendar, log: { info: () => {} } });
  }

  /** An attempt at a request. */
  const attempt = (key: string, request = 'POST /pauses'): Actor => ({
    name: 'anna',
    role: 'operator',
    address: null,
    requestId: null,
    repeat: { key, request, changes: 0, isRepeat: false },
  });
  const make = async () => {
    made += 1;
    return RESULT;
  };
  const actions = async () =>
    (await db.sql('SELECT action FROM audit WHERE id > $1::bigint ORDER BY id', [known])).map(
      ({ action }) => action,
    );

  it('have their result kept for a day, and are removed with the next one', async () => {
    const { madeChanges } = db.store;
    expect(await madeChanges.find('k')).toBeNull();
    await madeChanges.add('k', '{"result":1}');
    await db.sql(`UPDATE made_changes SET made_at = now() - interval '23:59'`);
    expect(await madeChanges.find('k')).toBe('{"result":1}');
    await db.sql(`UPDATE made_changes SET made_at = now() - interval '24 hours'`);
    expect(await madeChanges.find('k')).toBeNull();
    await madeChanges.add('k', '{"result":2}');
    expect(await db.sql('SELECT result FROM made_changes')).toEqual([{ result: '{"result":2}' }]);
  });

  it('are made once, and their results stay what they are', async () => {
    const change = (key: string) => audit.change(attempt(key), make);
    const announce = (key: string) => audit.announce(attempt(key), CHANGE, make);
    const prepared = (key: string) => audit.prepared(attempt(key), make, async (found) => found);
    for (const [at, run] of [change, announce, prepared].entries()) {
      expect(await run(`k${at}`)).toEqual(RESULT);
      expect(await run(`k${at}`)).toEqual(RESULT);
      expect(made).toBe(at + 1);
    }
    expect(await actions()).toEqual(['pause.begin']);
  });

  it('are made once by attempts at the same moment, on several instances', async () => {
    const instances = [db.store, await db.another(), await db.another()].map(over);
    const both = [...instances, ...instances];
    expect(await Promise.all(both.map((one) => one.change(attempt('c'), make)))).toEqual(
      both.map(() => RESULT),
    );
    expect(made).toBe(1);
    await Promise.all(both.map((one) => one.announce(attempt('a'), CHANGE, make)));
    expect(made).toBe(2);
  });

  it('changes of one request are distinguished by their numbers', async () => {
    const both = async () => {
      const actor = attempt('k');
      return [
        await audit.change(actor, async () => 'first'),
        await audit.change(actor, async () => 'second'),
      ];
    };
    expect([await both(), await both()]).toEqual([
      ['first', 'second'],
      ['first', 'second'],
    ]);
  });

  it('are refused to a repeat that is another request', async () => {
    await audit.change(attempt('k'), make);
    const refusal = { kind: 'invalid', code: 'idempotency_key_reused' };
    const other = attempt('k', 'POST /silences');
    await expect(audit.announce(other, CHANGE, make)).rejects.toMatchObject(refusal);
    expect([made, await actions()]).toEqual([1, []]);
  });

  it('failed changes may be made by a repeat', async () => {
    const bug = new Error('a bug');
    const failing = () => Promise.reject(bug);
    for (const run of [
      (work: typeof make) => audit.change(attempt('c'), work),
      (work: typeof make) => audit.announce(attempt('a'), CHANGE, work),
      (work: typeof make) => audit.prepared(attempt('p'), work, async (found) => found),
    ]) {
      await expect(run(failing)).rejects.toBe(bug);
      expect(await run(make)).toEqual(RESULT);
    }
    expect(await actions()).toEqual(['pause.begin', 'pause.begin.failed', 'pause.begin']);
  });

  it('a change that is refused for what the first attempt did is answered with what that did', async () => {
    const last = async () => {
      await audit.change(attempt('k'), make);
      throw new Error('there is no room for another one');
    };
    expect(await audit.prepared(attempt('k'), last, async () => null)).toEqual(RESULT);
    expect(made).toBe(1);
  });

  it('are in effect although their result could not be kept', async () => {
    const unkept = over({
      ...db.store,
      inTurn: async (work) => {
        await db.store.inTurn(work);
        throw new Error('the connection broke at the commit');
      },
    });
    expect(await unkept.announce(attempt('k'), CHANGE, make)).toEqual(RESULT);
    expect([made, await actions()]).toEqual([1, ['pause.begin']]);
  });
});
