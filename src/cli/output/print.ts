// Prints an API answer in the format asked for: JSON exactly as the API sent it, YAML of the same, or a table. Every
// reading command ends here.
import type { Answer } from '../../api/client.ts';
import type { CommandContext } from '../command.ts';
import { type Style, styleFor } from './style.ts';

export async function printAnswer<Body>(
  context: CommandContext,
  { body, text }: Answer<Body>,
  asTable: (body: Body, style: Style) => string,
): Promise<void> {
  context.io.stdout.write(await rendered(context, body, text, asTable));
}

async function rendered<Body>(
  { io, format }: CommandContext,
  body: Body,
  text: string,
  asTable: (body: Body, style: Style) => string,
): Promise<string> {
  if (format === 'json') return text.endsWith('\n') ? text : `${text}\n`;
  if (format === 'yaml') return (await import('yaml')).stringify(body);
  return asTable(body, await styleFor(io));
}
