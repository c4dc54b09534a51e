// `cardpoll demo` from start to Ctrl-C, and a whole round of commands against it.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { freePort } from '../support/free-port.ts';
import { runCli, spawnCli } from '../support/processes.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

it('polls a fleet out of nothing, prints its state, and answers every command', async () => {
  const listen = `127.0.0.1:${await freePort()}`;
  const demo = spawnCli(['demo', '--cards', '500', '--listen', listen]);
  await demo.waitForLine(/for trials only/);
  await demo.waitForLine(/^(normal|warning|alert) {2}500 cards {2}realname [\d.]+\/s q\d+/);

  const env = { CARDPOLL_URL: `http://${listen}` };
  const answer = async (...argv: string[]) => {
    const { code, stdout, stderr } = await runCli(argv, { env });
    expect([code, stderr], argv.join(' ')).toEqual([0, expect.not.stringContaining('cardpoll: ')]);
    return stdout;
  };
  expect(JSON.parse(await answer('stats', '--json'))).toMatchObject({ cards_total: 500 });
  expect(await answer('stats', 'init')).toContain('loaded\t500 of 500\n');
  expect((await answer('stats', 'queues')).split('\n')).toHaveLength(4);
  expect(await answer('concurrency', 'set', 'carddata', '60')).toMatch(/^carddata\t60\t/);
  expect(await answer('concurrency')).toMatch(/^carddata\t60\t/m);
  expect(await answer('concurrency', 'advise')).toMatch(/^realname\t/m);
  expect(await answer('concurrency', 'reset', 'package', '--yes')).toMatch(/^package\t\d+\t0\n$/);
  expect(await answer('configs', 'set', '3', '--interval-seconds', '600')).toMatch(/^3\t.*\t600\t/);
  expect(await answer('configs', 'disable', '3', '--yes')).toContain('\tdisabled\n');
  expect(await answer('configs')).toMatch(/^3\t.*\tdisabled$/m);
  expect(await answer('cards', 'show', '1')).toMatch(/^card id\t1$/m);

  const directory = temporaryDirectory('demo');
  const file = join(directory, 'cards.csv');
  writeFileSync(file, 'card_id,iccid,carrier_id,status\n900001,89860099999999990001,1,1\n');
  expect(await answer('cards', 'import', file)).toContain('inserted\t1\n');
  expect(await answer('cards', 'show', '89860099999999990001')).toMatch(/^card id\t900001$/m);

  expect((await runCli(['cards', 'show', '123456789'], { env })).code).toBe(1);
  expect(await demo.stop('SIGINT')).toMatchObject({ code: 0, signal: null });
});
