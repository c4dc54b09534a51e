// What manual triggers need of the manual list: taking a trigger's entries out, and finding out which are lost.

import { expect, it } from 'vitest';
import { setLimit } from '../../support/limits.ts';
import { claim, describeLiveStore, leasesToExpire, REALNAME, range, settle } from './stores.ts';

const entriesOf = (triggerId: string, count: number, from = 1) =>
  range(count, from).map((cardId) => `${cardId}:${triggerId}`);

describeLiveStore('manual list', (live) => {
  const length = async () => (await live.store.work.counts(REALNAME)).manualLength;

  it('takes out the entries of one trigger and leaves the others in order', async () => {
    const { manual } = live.store;
    await manual.push(REALNAME, ['1:a', '2:b', '3', '4:a', '5:ba', '6:b']);
    await manual.remove(REALNAME, ['a']);
    await manual.remove(REALNAME, ['a']);
    expect(await length()).toBe(4);
    const { items } = await claim(live.store, 10);
    expect(items.map((item) => item.member)).toEqual(['2:b', '3', '5:ba', '6:b']);
  });

  it('takes out the entries of many triggers at once', async () => {
    const { manual } = live.store;
    const all = range(2_500).map((n) => `${n}:t${n}`);
    await manual.push(REALNAME, [...all, '7', '8:b', '9:t1:x']);
    await manual.remove(REALNAME, []);
    expect(await length()).toBe(2_503);
    await manual.remove(
      REALNAME,
      range(2_500).map((n) => `t${n}`),
    );
    expect(await length()).toBe(3);
    const { items } = await claim(live.store, 10);
    expect(items.map((item) => item.member).sort()).toEqual(['7', '8:b', '9:t1:x']);
  });

  it('claims what is no card as card 0, so that it leaves the list', async () => {
    const entries = [
      'abc',
      '',
      '0',
      '-5',
      '1.5',
      '12x',
      '99999999999999999999',
      '9007199254740993:t',
      ':t',
      '7:t:u',
    ];
    await live.store.manual.push(REALNAME, entries);
    const { items } = await claim(live.store, 20);
    expect(items.map((item) => item.member)).toEqual(entries);
    expect(items.map((item) => item.cardId)).toEqual([0, 0, 0, 0, 0, 0, 0, 0, 0, 7]);
    expect(await settle(live.store, items, 'failed')).toEqual({ fenced: 0 });
    expect(await length()).toBe(0);
  });

  it('empties a long list, and takes a trigger out of one', async () => {
    const { manual, work } = live.store;
    await manual.push(REALNAME, entriesOf('a', 12_345));
    await manual.remove(REALNAME, ['a']);
    expect(await length()).toBe(0);
    await manual.push(REALNAME, [
      ...entriesOf('a', 5_000),
      ...entriesOf('b', 2_500),
      ...entriesOf('a', 2_500, 9_000),
    ]);
    await manual.remove(REALNAME, ['a']);
    expect(await length()).toBe(2_500);
    await setLimit(work, REALNAME, 5_000);
    const { items } = await claim(live.store, 5_000);
    expect(items.map((item) => item.member)).toEqual(entriesOf('b', 2_500));
  });

  it('leaves alone what runs, and other task types', async () => {
    const { manual, work } = live.store;
    await manual.push(REALNAME, entriesOf('a', 5));
    await manual.push('package', entriesOf('a', 5));
    const { items } = await claim(live.store, 2);
    await manual.remove(REALNAME, ['a']);
    expect(await length()).toBe(0);
    expect((await work.counts('package')).manualLength).toBe(5);
    expect(await settle(live.store, items, 'done')).toEqual({ fenced: 0 });
  });

  it('shows running entries until they are settled', async () => {
    const { manual, work } = live.store;
    await setLimit(work, REALNAME, 3_000);
    await manual.push(REALNAME, [...entriesOf('a', 2_500), '7']);
    expect(await manual.running(REALNAME)).toEqual([]);
    const { items } = await claim(live.store, 2_501);
    expect(new Set(await manual.running(REALNAME))).toEqual(new Set([...entriesOf('a', 2_500), '7']));
    await work.release(REALNAME, items);
    await settle(live.store, items.slice(0, 2_500), 'done');
    expect(await manual.running(REALNAME)).toEqual(['7']);
    expect(await manual.running('package')).toEqual([]);
  });

  it('finds what neither waits nor runs', async () => {
    const { manual, work } = live.store;
    await setLimit(work, REALNAME, 2_000);
    await manual.push(REALNAME, entriesOf('a', 4_000));
    await manual.push('package', ['1:b']);
    const { items } = await claim(live.store, 1_500);
    expect(await manual.missing(REALNAME, entriesOf('a', 4_000))).toEqual([]);
    expect(await manual.missing(REALNAME, ['1:b', '4001:a', '1', '4000:a', '1:a'])).toEqual([
      '1:b',
      '4001:a',
      '1',
    ]);
    await settle(live.store, items.slice(0, 10), 'done');
    expect(new Set(await manual.missing(REALNAME, entriesOf('a', 4_000)))).toEqual(
      new Set(items.slice(0, 10).map((item) => item.member)),
    );
    expect(await manual.missing(REALNAME, [])).toEqual([]);
  });

  it('misses nothing that a dead worker held', async () => {
    await live.store.manual.push(REALNAME, ['1:a', '2:a']);
    await claim(live.store, 2, { leaseMs: 100 });
    await leasesToExpire(live.store);
    expect(await live.store.manual.missing(REALNAME, ['1:a', '2:a'])).toEqual([]);
    await live.store.work.reap(REALNAME);
    expect(await live.store.manual.missing(REALNAME, ['1:a', '2:a'])).toEqual([]);
    expect(await length()).toBe(2);
  });

  it('puts back what dead workers held before what waits, the earliest claimed first', async () => {
    const entries = ['30:a', '20:a', '10:a', '40:a', '5:b'];
    await live.store.manual.push(REALNAME, entries);
    for (let i = 0; i < 3; i += 1) await claim(live.store, 1, { leaseMs: 300 });
    await leasesToExpire(live.store);
    const { items } = await claim(live.store, 5);
    expect(items.map((item) => item.member)).toEqual(entries);
  });

  it('loses nothing while claims take from the list that is being searched', async () => {
    const { manual, work } = live.store;
    const other = (await live.another()).manual;
    await setLimit(work, REALNAME, 20_000);
    const entries = entriesOf('a', 10_000);
    await manual.push(REALNAME, entries);
    await other.push(REALNAME, entriesOf('b', 10_000));
    const claims = (async () => {
      for (let i = 0; i < 40; i += 1) await claim(live.store, 200);
    })();
    const missing: string[] = [];
    const searches = (async () => {
      for (let i = 0; i < 5; i += 1) missing.push(...(await other.missing(REALNAME, entries)));
    })();
    await Promise.all([claims, searches]);
    expect(missing).toEqual([]);
    await manual.remove(REALNAME, ['b']);
    const running = await manual.running(REALNAME);
    expect(running.length + (await length())).toBe(10_000);
  });
});
