// Checks whether `x.gz` contains the data of `x`: a rotated file that is being compressed, or was compressed and kept. Used
// by plan.ts, so that its lines count once. Compares byte by byte and stops at the first difference.
import { FileBytes } from '../read/file-bytes.ts';
import { isGzip } from '../read/gzip/gzip-format.ts';
import { inflateFile } from '../read/gzip/inflate.ts';

/**
 * Also true for a gzip file that is still being written and contains the beginning. False when a file cannot be read.
 * @throws the signal's reason when it is aborted.
 */
export async function holdSameData(
  plainPath: string,
  gzipPath: string,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  try {
    using plain = FileBytes.open(plainPath);
    using compressed = FileBytes.open(gzipPath);
    if (plain === null || compressed === null) return false;
    // Nothing is written yet; the data will be that of the plain file.
    if (compressed.size === 0) return true;
    if (!isGzip(compressed.readAt(0, Buffer.alloc(10)))) return false;
    return await compare(plain, compressed, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    return false;
  }
}

async function compare(
  plain: FileBytes,
  compressed: FileBytes,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  let offset = 0;
  let same = true;
  let room = Buffer.alloc(0);
  const problems = await inflateFile(
    compressed,
    {
      data: (chunk) => {
        if (room.length < chunk.length) room = Buffer.allocUnsafe(chunk.length);
        const expected = plain.readAt(offset, room.subarray(0, chunk.length));
        offset += chunk.length;
        same &&= expected.equals(chunk);
        return same && signal?.aborted !== true;
      },
      isStopped: () => signal?.aborted === true,
      gap: () => {},
    },
    'node',
  );
  signal?.throwIfAborted();
  if (!same || problems === null) return false;
  if (problems.length === 0) return offset === plain.size;
  return problems.length === 1 && problems[0]?.code === 'truncated';
}
