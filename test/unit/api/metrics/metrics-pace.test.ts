import { expect, it } from 'vitest';
import { PacedPage } from '../../../../src/api/metrics/metrics-pace.ts';
import { systemClock } from '../../../../src/platform/clock.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

it('a page is rendered once a second, and all who wait for it share it', async () => {
  const clock = new FakeClock();
  let rendered = 0;
  const page = new PacedPage(async () => `page ${++rendered}`, clock);
  const first = [page.text(), page.text()];
  await clock.run(10);
  expect(await Promise.all(first)).toEqual(['page 1', 'page 1']);
  const second = [page.text(), page.text(), page.text()];
  await clock.run(900);
  expect(rendered).toBe(1);
  await clock.run(100);
  expect(await Promise.all(second)).toEqual(['page 2', 'page 2', 'page 2']);
});

it('a page that fails fails for those who waited for it, and for no one later', async () => {
  let fails = true;
  const render = async () => {
    if (fails) throw new Error('no store');
    return 'page';
  };
  const page = new PacedPage(render, systemClock);
  await expect(page.text()).rejects.toThrow('no store');
  fails = false;
  expect(await page.text()).toBe('page');
});
