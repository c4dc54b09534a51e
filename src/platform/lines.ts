// Cuts a stream of text into lines, only at line feeds: node:readline also ends a line at U+2028 and U+2029, which JSON
// may hold in a string. Used for answers with an object a line.
import { StringDecoder } from 'node:string_decoder';

/** The lines without their ends, as they arrive: all that came together. */
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
