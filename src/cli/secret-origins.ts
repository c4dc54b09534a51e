// Reports on standard error the files from which a command read secrets, never their contents. Used by commands that act with the
// secrets of a daemon.
import { loadSecretOrigins } from '../config/load-config.ts';
import { plainText } from '../domain/plain-text.ts';
import type { CommandContext } from './command.ts';

export async function showSecretOrigins({
  configInputs,
  io,
}: Pick<CommandContext, 'configInputs' | 'io'>): Promise<void> {
  for (const { name, from } of await loadSecretOrigins(configInputs))
    io.stderr.write(`${name}: from ${plainText(from)}\n`);
}
