// `cardpoll gateway`: try a profile, list the shipped ones, simulate a gateway. None of them needs a daemon.
import type { CommandSpec } from '../../command.ts';
import { profiles } from './profiles.ts';
import { simulate } from './simulate.ts';
import { tryProfile } from './try.ts';

export const gateway: CommandSpec = {
  name: 'gateway',
  summary: 'Try the profile of a gateway, list the shipped ones, or simulate a gateway',
  examples: [
    [
      'cardpoll gateway try --config cardpoll.yaml --iccid 8986001234567890123',
      'calls it for one card and shows what was read',
    ],
    ['cardpoll gateway profiles', 'the shipped profiles'],
    ['cardpoll gateway simulate --listen 127.0.0.1:8090', 'a gateway for trials'],
  ],
  subcommands: [tryProfile, profiles, simulate],
};
