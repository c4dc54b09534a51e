// `cardpoll gateway simulate`: a gateway to test against.
import { fraction, hostPort, integer, text } from '../../../config/kinds.ts';
import { loadSimulatedGateway } from '../../../config/load-config.ts';
import { defineCommand } from '../../command.ts';
import type { SimulateOptions } from '../../launchers.ts';

type Options = Omit<SimulateOptions, 'profile'> & { readonly profile?: string };

export const simulate = defineCommand<[], Options>({
  name: 'simulate',
  summary: 'Serve a simulated gateway with generated cards; GET /stats counts the calls',
  examples: [
    ['cardpoll gateway simulate --listen 127.0.0.1:8090', 'answers at once'],
    ['cardpoll gateway simulate --listen 127.0.0.1:8090 --profile 1nce', "answers as a vendor's gateway"],
    ['cardpoll gateway simulate --listen 127.0.0.1:8090 --latency-ms 50', 'answers after 50 ms'],
    ['cardpoll gateway simulate --listen 127.0.0.1:8090 --failure-rate 0.1', 'fails every tenth call'],
    [
      'cardpoll gateway simulate --listen 127.0.0.1:8090 --latency-ms 50 --capacity 40',
      'slows down under load',
    ],
  ],
  options: [
    { flags: '--listen <host:port>', doc: 'address to serve on', kind: hostPort(), required: true },
    {
      flags: '--profile <name|file>',
      doc: 'profile to serve (default: the default profile); credentials that are set are checked, any others are accepted',
      kind: text('name or file'),
    },
    {
      flags: '--cards <n>',
      doc: 'number of different cards (default: no limit)',
      kind: integer({ min: 1, max: 100_000_000 }),
    },
    {
      flags: '--latency-ms <n>',
      doc: 'milliseconds that one call takes (default: 0; 20 with --capacity)',
      kind: integer({ min: 0, max: 600_000 }),
    },
    {
      flags: '--failure-rate <share>',
      doc: 'share of calls that fail, 0 to 1 (default: 0)',
      kind: fraction({ min: 0, max: 1 }),
    },
    {
      flags: '--max-concurrency <n>',
      doc: 'calls served at a time; more are refused (default: no limit)',
      kind: integer({ min: 1, max: 1_000_000 }),
    },
    {
      flags: '--capacity <n>',
      doc: 'calls served at full speed at a time; above it all calls slow down, above twice as many calls are refused (default: no limit)',
      kind: integer({ min: 1, max: 1_000_000 }),
    },
  ],
  run: async ({ io, launchers, configInputs }, { options: { profile: name, ...options } }) => {
    const flags = { ...configInputs.flags, '--gateway-profile': name };
    const profile =
      name === undefined ? {} : { profile: await loadSimulatedGateway({ ...configInputs, flags }) };
    return launchers.simulate({ ...options, ...profile }, (url) => {
      io.stderr.write(`simulated gateway: ${url} (counts: ${url}/stats)\n`);
    });
  },
});
