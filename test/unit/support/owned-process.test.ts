import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { describe, expect, it } from 'vitest';
import { endOwnedProcesses, endProcess, isRunning, spawnOwned } from '../../support/owned-process.ts';
import { waitFor } from '../../support/wait-for.ts';

const sleeper = () => spawnOwned('sleep', ['600'], { stdio: 'ignore' });

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

describe('owned processes', () => {
  it('are all ended by endOwnedProcesses', async () => {
    const children = [sleeper(), sleeper()];
    await endOwnedProcesses();
    expect(children.map(isRunning)).toEqual([false, false]);
  });

  it('end with SIGKILL when they ignore the signal', async () => {
    const child = spawnOwned('sh', ['-c', 'trap "" TERM; echo ready; while :; do sleep 0.05; done'], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    await once(child.stdout ?? child, 'data');
    await endProcess(child, 'SIGTERM', 50);
    expect(child.signalCode).toBe('SIGKILL');
  });

  it('end with their parent, even when that is killed with SIGKILL', async () => {
    const entry = `import { spawnOwned } from './owned-process.ts';
      const child = spawnOwned('sleep', ['600'], { stdio: 'ignore' });
      child.once('spawn', () => console.log(child.pid));
      setInterval(() => {}, 1000);`;
    const { outputFiles } = await build({
      stdin: { contents: entry, resolveDir: fileURLToPath(new URL('../../support', import.meta.url)) },
      bundle: true,
      write: false,
      platform: 'node',
      format: 'esm',
    });
    const script = outputFiles[0]?.text ?? '';
    const parent = spawnOwned(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const [line] = await once(parent.stdout ?? parent, 'data');
    const grandchild = Number(line);
    expect(exists(grandchild)).toBe(true);
    parent.kill('SIGKILL');
    await waitFor(() => !exists(grandchild), { what: 'the grandchild to end' });
  });
});

describe('waitFor', () => {
  it('gives the value once it is there', async () => {
    let calls = 0;
    expect(await waitFor(() => (++calls === 3 ? 'here' : null), { everyMs: 1 })).toBe('here');
  });

  it('says what it waited for and what it saw last', async () => {
    const never = waitFor(() => false, { timeoutMs: 20, what: 'the moon' });
    await expect(never).rejects.toThrow('waited 20 ms in vain for the moon (last value: false)');
    const failing = waitFor(() => Promise.reject(new Error('refused')), { timeoutMs: 20 });
    await expect(failing).rejects.toThrow('last error: refused');
  });
});
