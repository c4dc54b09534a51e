// Where programs of this user keep state, by the XDG base directory specification.
import { homedir } from 'node:os';
import { join } from 'node:path';

export function stateHome(env: NodeJS.ProcessEnv): string {
  return env.XDG_STATE_HOME || join(env.HOME || homedir(), '.local', 'state');
}
