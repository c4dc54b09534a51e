// A file system that is soon full: a tmpfs, where the test may mount one (as root, or by a sudo that asks nothing).
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface TinyDisk {
  readonly path: string;
  /** False where mounting is not allowed: `path` is then an ordinary directory. */
  readonly mounted: boolean;
  /** Unmounts and removes it. */
  remove(): void;
}

/** Anyone may write to it. @param size as mount(8) takes it, `256k`. */
export function mountTinyDisk(size: string): TinyDisk {
  const path = mkdtempSync(join(tmpdir(), 'cardpoll-full-'));
  const mounted = privileged('mount', '-t', 'tmpfs', '-o', `size=${size},mode=1777`, 'tmpfs', path);
  return {
    path,
    mounted,
    remove: () => {
      if (mounted) privileged('umount', path);
      rmSync(path, { recursive: true, force: true });
    },
  };
}

function privileged(...command: string[]): boolean {
  const asRoot = process.getuid?.() === 0 ? [] : ['sudo', '-n'];
  const [program = '', ...args] = [...asRoot, ...command];
  return spawnSync(program, args, { stdio: 'ignore' }).status === 0;
}
