// Splits a stream of text into lines, only at line feeds: node:readline also ends a line at U+2028 and U+2029, which JSON strings
// may contain. Used for answers with one object per line.
import { StringDecoder } from 'node:string_decoder';

/** The lines without their ends, in groups as they arrive. */
export async function* linesOf(pieces: AsyncIterable<Buffer>): AsyncGenerator<readonly string[]> {
  const decoder = new StringDecoder('utf8');
  let rest = '';
  for await (const piece of pieces) {
    const lines = (rest + decoder.write(piece)).split('\n');
    rest = lines.pop() ?? '';
    yield lines;
  }
  if (rest !== '') yield [rest];
}
