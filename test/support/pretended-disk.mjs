// Loaded into a cardpoll by tiny-disk.ts where no test may mount anything: statfs(2) of PRETENDED_DISK answers as a file
// system of PRETENDED_BYTES would that holds the directory's files. Everything else is as it is.
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';

const { PRETENDED_DISK: disk, PRETENDED_BYTES: bytes } = process.env;
const BLOCK = 4096;
const statfs = fs.promises.statfs;

/** @param {import('node:fs').PathLike} path */
const pretended = async (path) => {
  const real = await statfs(path);
  if (path !== disk) return real;
  const used = fs.readdirSync(disk).map((name) => Math.ceil(fs.statSync(join(disk, name)).size / BLOCK));
  const blocks = Number(bytes) / BLOCK;
  const bavail = Math.max(0, blocks - used.reduce((sum, one) => sum + one, 0));
  return Object.assign(real, { bsize: BLOCK, blocks, bavail });
};
fs.promises.statfs = /** @type {typeof statfs} */ (pretended);
syncBuiltinESMExports();
