// `cardpoll completion`: a script that teaches a shell what can be typed, made from the commands' own declarations.
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
  summary: 'Print the completion script of a shell',
  examples: [
    ['cardpoll completion bash > /etc/bash_completion.d/cardpoll', 'for everybody'],
    ['cardpoll completion zsh > ~/.zfunc/_cardpoll', 'a directory of $fpath'],
    ['cardpoll completion fish > ~/.config/fish/completions/cardpoll.fish', 'for good'],
  ],
  arguments: [{ name: '<shell>', doc: SHELLS.join(', '), kind: oneOf(SHELLS), choices: SHELLS }],
  run: async ({ io, root }, { args: [shell] }) => {
    io.stdout.write(SCRIPTS[shell](placesOf(root)));
    return 0;
  },
});
