// `cardpoll token`: makes an admin token. It is printed once and kept nowhere; the line to add holds its hash.
import { randomBytes } from 'node:crypto';
import { hashedEntry, LAST_DAY, TOKEN_NAME } from '../../config/admin-tokens.ts';
import { type Kind, oneOf } from '../../config/kinds.ts';
import { TOKEN_ROLES, type TokenRole } from '../../domain/admin-token.ts';
import { type CommandSpec, defineCommand } from '../command.ts';
import { EXIT_OK } from '../exit-codes.ts';
import { printAnswer } from '../output/print.ts';
import { sentenceLines, styleFor } from '../output/style.ts';
import { renderFields } from '../output/table.ts';

const TOKEN_BYTES = 32;
const WHAT_NOW =
  'give the token to its owner, it is not kept; add the line to the file of CARDPOLL_ADMIN_TOKENS_FILE, and reload with SIGHUP';

/** The day as it was typed. */
const DAY: Kind<string> = {
  accepts: LAST_DAY.accepts,
  parse: (raw) => {
    const parsed = LAST_DAY.parse(raw);
    return parsed.ok ? { ok: true, value: String(raw) } : parsed;
  },
};

const EXAMPLES = [
  ['cardpoll token new --name anna --role operator', 'a token, and the line that lets it in'],
  ['cardpoll token new --name ci --role viewer --expires 2027-01-31', 'until that day is over, in UTC'],
  ['cardpoll token new --name anna --role admin -o json', 'for programs'],
] as const;

interface NewOptions {
  readonly name: string;
  readonly role: TokenRole;
  readonly expires?: string;
}

const make = defineCommand<[], NewOptions>({
  name: 'new',
  summary: 'Make an admin token: it is shown once, and kept nowhere',
  examples: EXAMPLES,
  options: [
    { flags: '--name <name>', doc: 'whose it is, for the audit trail', kind: TOKEN_NAME, required: true },
    { flags: '--role <role>', doc: TOKEN_ROLES.join(', '), kind: oneOf(TOKEN_ROLES), required: true },
    { flags: '--expires <day>', doc: 'its last day, in UTC (default: never)', kind: DAY },
  ],
  run: async (context, { options: { name, role, expires = null } }) => {
    const token = randomBytes(TOKEN_BYTES).toString('base64url');
    const body = { name, role, expires, token, line: hashedEntry(name, role, token, expires) };
    await printAnswer(context, { body, text: JSON.stringify(body) }, (made, style) =>
      renderFields(
        [
          ['token', style.text(made.token)],
          ['line', style.text(made.line)],
        ],
        style,
      ),
    );
    const { io } = context;
    // The token may go into a file while this is read on a terminal.
    const lines = sentenceLines(WHAT_NOW, await styleFor({ ...io, stdout: io.stderr }));
    io.stderr.write(`${lines.join('\n')}\n`);
    return EXIT_OK;
  },
});

export const token: CommandSpec = {
  name: 'token',
  summary: 'Make tokens for the admin API',
  examples: EXAMPLES,
  subcommands: [make],
};
