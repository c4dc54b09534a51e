// Unpacks compressed answers of the gateway and of token servers. In one step and not as a stream: the output is limited to the
// length of an answer, so unpacking takes no longer than parsing, and a zip bomb is stopped at that length.
import { brotliDecompressSync, gunzipSync, inflateRawSync, inflateSync, type ZlibOptions } from 'node:zlib';
import { GatewayError } from '../gateway.ts';

/** Value of Accept-Encoding. */
export const ENCODINGS = 'gzip, deflate, br';

const UNPACK: Readonly<Record<string, (bytes: Buffer, options: ZlibOptions) => Buffer>> = {
  gzip: gunzipSync,
  'x-gzip': gunzipSync,
  br: brotliDecompressSync,
  // RFC 9110 requires zlib; some servers omit its two-byte header.
  deflate: (bytes, options) => (hasZlibHead(bytes) ? inflateSync : inflateRawSync)(bytes, options),
};
const MOST_ENCODINGS = 2;
const GZIP_HEAD = Buffer.from([0x1f, 0x8b]);
/** The start of JSON, which no compressed body has. */
const PLAIN_HEAD = /^(\ufeff|\xef\xbb\xbf)?\s*([{["]|-?\d|true|false|null)/;

/**
 * @param encoding the Content-Encoding header; null: none. @param maxBytes of the unpacked answer.
 * @throws GatewayError `malformed`: too long, cut off, or not what its header says.
 */
export function unpacked(bytes: Buffer, encoding: string | null, maxBytes: number): Buffer {
  if (bytes.length === 0) return bytes;
  const named = (encoding ?? '').toLowerCase().split(',');
  const said = named.map((name) => name.trim()).filter((name) => name !== '' && name !== 'identity');
  if (said.length === 0 && bytes.subarray(0, 2).equals(GZIP_HEAD)) said.push('gzip');
  if (said.length > MOST_ENCODINGS)
    throw new GatewayError('malformed', 'the answer is compressed many times');
  return said.reduceRight((packed, name) => unpackedOnce(packed, name, maxBytes), bytes);
}

function unpackedOnce(bytes: Buffer, name: string, maxBytes: number): Buffer {
  const unpack = Object.hasOwn(UNPACK, name) ? UNPACK[name] : undefined;
  try {
    if (unpack !== undefined) return unpack(bytes, { maxOutputLength: maxBytes });
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'ERR_BUFFER_TOO_LARGE') throw tooLong(maxBytes);
    if (!isPlain(bytes)) {
      const what = code === 'Z_BUF_ERROR' ? 'cut off' : 'none';
      throw new GatewayError(
        'malformed',
        `the answer is compressed (${name}) by its header, but it is ${what}`,
        {
          cause,
        },
      );
    }
  }
  // A proxy unpacked the body and left the header, or the header names a charset.
  if (isPlain(bytes)) return bytes;
  throw new GatewayError('malformed', `the answer is compressed (${name}), which cannot be read`);
}

export function tooLong(maxBytes: number): GatewayError {
  return new GatewayError('malformed', `the answer is longer than ${maxBytes} bytes`);
}

function isPlain(bytes: Buffer): boolean {
  return PLAIN_HEAD.test(bytes.subarray(0, 32).toString('latin1'));
}

/** RFC 1950, 2.2: method 8, and a multiple of 31. */
function hasZlibHead(bytes: Buffer): boolean {
  return bytes.length > 1 && (bytes.readUInt8(0) & 0x0f) === 8 && bytes.readUInt16BE(0) % 31 === 0;
}
