// Logs that take seconds to search and a moment to make: one gzip member over and over. For tests of what happens
// meanwhile.
import { randomBytes } from 'node:crypto';
import { closeSync, openSync, utimesSync, writeSync } from 'node:fs';
import { gzipSync } from 'node:zlib';

export const BIG_LOG_CARD = '8986001234567890123';
const LINES_A_MEMBER = 30_000;
const NOISE_CHARACTERS = 200;
const CRC_FROM_END = 8;

let member: Buffer | null = null;

/** 7 MB of text, 3.4 MB compressed, one line of BIG_LOG_CARD. */
function oneMember(): Buffer {
  if (member !== null) return member;
  const noise = randomBytes((LINES_A_MEMBER * NOISE_CHARACTERS) / 2).toString('hex');
  const lines = Array.from({ length: LINES_A_MEMBER }, (_, n) => {
    const rest = noise.slice(n * NOISE_CHARACTERS, (n + 1) * NOISE_CHARACTERS);
    return `{"time":"2026-02-01T10:00:00.${String(n % 1000).padStart(3, '0')}Z","request":"x${rest}"}\n`;
  });
  const hit = `{"time":"2026-02-01T11:00:00Z","iccid":"${BIG_LOG_CARD}"}\n`;
  member = gzipSync(lines.join('') + hit, { level: 1 });
  return member;
}

export interface BigLog {
  /** As many as hits; searching takes a processor some 30 ms a member. */
  readonly members: number;
  /** The last member's checksum is wrong. */
  readonly damaged?: boolean;
}

/** Written long ago, as far as its mtime tells. */
export function writeBigLog(path: string, { members, damaged = false }: BigLog): void {
  const fd = openSync(path, 'wx');
  try {
    for (let n = 0; n < members; n += 1) {
      const bytes = Buffer.from(oneMember());
      if (damaged && n === members - 1) bytes.writeUInt32LE(0, bytes.length - CRC_FROM_END);
      for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at);
    }
  } finally {
    closeSync(fd);
  }
  const written = new Date('2026-02-01T12:00:00Z');
  utimesSync(path, written, written);
}
