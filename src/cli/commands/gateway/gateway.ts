// `cardpoll gateway`: profiles lists the shipped ones, to be used by name or to be copied and changed; try.ts tries one for a
// card; simulate.ts simulates a gateway. None of them needs a daemon.
import { SHIPPED_PROFILES } from '../../../config/gateway/profile.ts';
import { text } from '../../../config/kinds.ts';
import { didYouMean } from '../../../config/suggest.ts';
import { CardpollError } from '../../../platform/errors.ts';
import { type CommandSpec, defineCommand } from '../../command.ts';
import { EXIT_OK } from '../../exit-codes.ts';
import { ownAnswer, printList } from '../../output/print.ts';
import { listTable } from '../../output/table.ts';
import { simulate } from './simulate.ts';
import { tryProfile } from './try.ts';

const PROFILE_EXAMPLES = [
  ['cardpoll gateway profiles', 'their names'],
  [
    'cardpoll gateway profiles show default > our-gateway.yaml',
    'a copy to change; gateway.profile then names the file',
  ],
  ['cardpoll gateway profiles -o json', 'for programs'],
] as const;

const listProfiles = defineCommand({
  name: 'list',
  summary: 'List the shipped profiles',
  examples: PROFILE_EXAMPLES,
  isDefault: true,
  run: async (context) => {
    const items = SHIPPED_PROFILES.map(({ name, text }) => ({ name, summary: summaryOf(text) }));
    return printList(context, ownAnswer({ items }), {
      table: listTable((style) => [
        { header: 'name', cell: ({ name }) => style.text(name) },
        { header: 'summary', cell: ({ summary }) => style.text(summary), drop: 1 },
      ]),
      noun: 'profiles',
      empty: 'no profile is shipped',
    });
  },
});

const showProfile = defineCommand<[string], unknown>({
  name: 'show',
  summary: 'Print a shipped profile',
  examples: PROFILE_EXAMPLES,
  arguments: [{ name: '<name>', doc: 'name of the profile', kind: text('name') }],
  formats: [],
  run: async ({ io }, { args: [name] }) => {
    const names = SHIPPED_PROFILES.map((profile) => profile.name);
    const found = SHIPPED_PROFILES.find((profile) => profile.name === name);
    if (found === undefined) {
      throw new CardpollError(
        'usage',
        'unknown_profile',
        `there is no profile ${name}${didYouMean(name, names)}`,
        { hint: `there are ${names.join(', ')}` },
      );
    }
    io.stdout.write(found.text);
    return EXIT_OK;
  },
});

/** The first sentence of the comment at its head. */
function summaryOf(profile: string): string {
  const head = /^(#.*\n)+/.exec(profile)?.[0].replaceAll(/^# ?/gm, '').replaceAll('\n', ' ') ?? '';
  return /^.*?\.(?= )/.exec(head)?.[0] ?? head;
}

const profiles: CommandSpec = {
  name: 'profiles',
  summary: 'List the shipped profiles, or print one',
  examples: PROFILE_EXAMPLES,
  subcommands: [listProfiles, showProfile],
};

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
