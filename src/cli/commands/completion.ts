// `cardpoll completion`: the completion script of a shell, made from the declarations of the commands.
import { oneOf } from '../../config/kinds.ts';
import { defineCommand } from '../command.ts';
import { bashCompletion } from '../completion/bash.ts';
import { fishCompletion } from '../completion/fish.ts';
import { placesOf } from '../completion/word-list.ts';
import { zshCompletion } from '../completion/zsh.ts';

const SCRIPTS = { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion };
type Shell = keyof typeof SCRIPTS;
const SHELLS = Object.keys(SCRIPTS) as Shell[];

export const completion = defineCommand<[Shell], unknown>({
  name: 'completion',
  summary: 'Print the completion script for a shell',
  examples: [
    ['cardpoll completion bash > /etc/bash_completion.d/cardpoll', 'for all users'],
    ['cardpoll completion zsh > ~/.zfunc/_cardpoll', 'in a directory of $fpath'],
    ['cardpoll completion fish > ~/.config/fish/completions/cardpoll.fish', 'permanently'],
  ],
  arguments: [{ name: '<shell>', doc: SHELLS.join(', '), kind: oneOf(SHELLS), choices: SHELLS }],
  run: async ({ io, root }, { args: [shell] }) => {
    io.stdout.write(SCRIPTS[shell](placesOf(root)));
    return 0;
  },
});
