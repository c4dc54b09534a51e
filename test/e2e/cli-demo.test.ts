// `cardpoll demo` from start to Ctrl-C, and a whole round of commands against it.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { cliHere } from '../support/cli-here.ts';
import { freePort } from '../support/free-port.ts';
import { BINARY, spawnCli } from '../support/processes.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

it('polls a fleet out of nothing, prints its state, and answers every command', async () => {
  const listen = `127.0.0.1:${await freePort()}`;
  const program = [process.execPath, '--trace-wasm-compilation-times', BINARY] as const;
  const demo = spawnCli(['demo', '--cards', '100', '--listen', listen], { program });
  await demo.waitForLine(/for trials only/);
  await demo.waitForLine(/^[●▲✖] (normal|warning|alert) {2}100 cards {2}realname [\d.]+\/s q\d+/);
  const states = demo.stdout.split('\n').filter((line) => /^[●▲✖]/.test(line));
  expect(states[0], 'the first state').not.toMatch(/alert|no instance polls/);

  const env = { CARDPOLL_URL: `http://${listen}` };
  const answer = async (...argv: string[]) => {
    let { code, stdout, stderr } = await cliHere(argv, { env });
    // On a busy machine: what it says then is to try again.
    while (/a store did not answer in time/.test(stderr))
      ({ code, stdout, stderr } = await cliHere(argv, { env }));
    expect([code, stderr], argv.join(' ')).toEqual([0, expect.not.stringContaining('cardpoll: ')]);
    return stdout;
  };
  expect(JSON.parse(await answer('stats', '--json'))).toMatchObject({ cards_total: 100 });
  expect(await answer('stats', 'init')).toMatch(/^loaded +100 of 100 cards/m);
  expect(await answer('stats')).toMatch(
    /^[●▲✖] (normal|warning|alert): [\s\S]*\n\nTASK +HEALTH [\s\S]*\ninit +\w+.* 100 cards[\s\S]*\ninstances +1 /,
  );
  expect((await answer('stats', 'queues', '-o', 'tsv')).split('\n')).toHaveLength(4);
  expect(await answer('concurrency', 'set', 'carddata', '60')).toMatch(/^carddata +60 /m);
  expect(await answer('concurrency')).toMatch(/^carddata +60 /m);
  expect(await answer('concurrency', 'advise')).toMatch(/^realname /m);
  expect(await answer('concurrency', 'reset', 'package', '--yes')).toMatch(/^package +\d+ +0\n$/m);
  expect(await answer('configs', 'set', '3', '--interval-seconds', '600')).toMatch(/^ +3 .* 10m /m);
  expect(await answer('configs', 'disable', '3', '--yes')).toMatch(/^ +3 .* disabled$/m);
  expect(await answer('configs')).toMatch(/^ +3 .* disabled$/m);
  expect(await answer('cards', 'show', '1')).toMatch(/^card id +1$/m);

  const directory = temporaryDirectory('demo');
  const file = join(directory, 'cards.csv');
  writeFileSync(file, 'card_id,iccid,carrier_id,status\n900001,89860099999999990001,1,1\n');
  expect(await answer('cards', 'import', file)).toMatch(/^inserted +1$/m);
  expect(await answer('cards', 'show', '89860099999999990001')).toMatch(/^card id +900001$/m);
  // The gateway of the demo also knows cards that are imported later.
  for (const cardId of ['1', '900001'])
    await answer('trigger', 'single', '--card-id', cardId, '--task', 'realname', '--wait');

  expect((await cliHere(['cards', 'show', '123456789'], { env })).code).toBe(1);
  // Compiling PGlite a second time, for speed, takes half a gigabyte of memory at once on Node 24.
  expect(demo.stdout).toMatch(/using Liftoff/);
  expect(demo.stdout).not.toMatch(/using TurboFan/);
  expect(await demo.stop('SIGINT')).toMatchObject({ code: 0, signal: null });
});
