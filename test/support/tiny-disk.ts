// A file system that is soon full: a tmpfs. Mounted as root, or by a sudo that asks nothing; else in namespaces of its
// own, where most kernels let everybody mount, and reached through the process that lives in them.
import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { endProcess, spawnOwned } from './owned-process.ts';
import { temporaryDirectory } from './temporary-directory.ts';

export interface TinyDisk {
  readonly path: string;
  /** False where nobody may mount: `path` is then an ordinary directory. */
  readonly mounted: boolean;
  /**
   * For a cardpoll that asks how much room there is, which is all that `path` tells where it is not mounted: there the
   * size is pretended. What does not fit is written all the same.
   */
  readonly env: Readonly<Record<string, string>>;
  /** Unmounts and removes it. */
  remove(): Promise<void>;
}

const PRETENCE = new URL('./pretended-disk.mjs', import.meta.url);
/** Lives as long as the mount does. */
const HOLDER = 'mount -t tmpfs -o "$1" tmpfs "$2" && echo mounted && exec sleep infinity';

/** Anyone may write to it. @param kib its size */
export async function mountTinyDisk(kib: number): Promise<TinyDisk> {
  const path = temporaryDirectory('full');
  const options = `size=${kib}k,mode=1777`;
  const removeDirectory = () => rmSync(path, { recursive: true, force: true });
  if (privileged('mount', '-t', 'tmpfs', '-o', options, 'tmpfs', path)) {
    const remove = async () => {
      privileged('umount', path);
      removeDirectory();
    };
    return { path, mounted: true, env: {}, remove };
  }
  const holder = await holderOf(path, options);
  if (holder !== null) {
    const remove = async () => {
      await endProcess(holder, 'SIGKILL');
      removeDirectory();
    };
    return { path: `/proc/${holder.pid}/root${path}`, mounted: true, env: {}, remove };
  }
  const env = {
    NODE_OPTIONS: `--import=${PRETENCE.href}`,
    PRETENDED_DISK: path,
    PRETENDED_BYTES: String(1024 * kib),
  };
  return { path, mounted: false, env, remove: async () => removeDirectory() };
}

/** Null where namespaces are refused. */
async function holderOf(path: string, options: string) {
  const namespaces = ['--user', '--map-root-user', '--mount'];
  const holder = spawnOwned('unshare', [...namespaces, 'sh', '-c', HOLDER, 'sh', options, path], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const said = await new Promise<boolean>((resolve) => {
    holder.stdout?.once('data', () => resolve(true));
    for (const end of ['close', 'error']) holder.once(end, () => resolve(false));
  });
  return said ? holder : null;
}

function privileged(...command: string[]): boolean {
  const asRoot = process.getuid?.() === 0 ? [] : ['sudo', '-n'];
  const [program = '', ...args] = [...asRoot, ...command];
  return spawnSync(program, args, { stdio: 'ignore' }).status === 0;
}
