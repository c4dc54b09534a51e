// `cardpoll token`: creates an admin token. It is printed once and not stored; the line for the token file holds its hash.
import { randomBytes } from 'node:crypto';
import { hashedEntry, LAST_DAY, TOKEN_NAME } from '../../config/admin-tokens.ts';
import { type Kind, oneOf } from '../../config/kinds.ts';
import { TOKEN_ROLES } from '../../domain/admin-token.ts';
import { CardpollError } from '../../platform/errors.ts';
import { EXIT_OK } from '../../platform/exit-codes.ts';
import { sentenceLines, styleFor } from '../../terminal/style.ts';
import { fieldList } from '../../terminal/table.ts';
import { type CommandSpec, defineCommand } from '../command.ts';
import { ownAnswer, printAnswer } from '../output/print.ts';

const TOKEN_BYTES = 32;
const WHAT_NOW =
  'give the token to its owner: it is not stored; add the line to the file of admin tokens: /etc/credstore/cardpoll.admin_tokens ' +
  '(then restart the unit), or what CARDPOLL_ADMIN_TOKENS_FILE names (then reload with SIGHUP)';

/** Keeps the day in the form that was typed. */
const DAY: Kind<string> = {
  accepts: LAST_DAY.accepts,
  parse: (raw) => {
    LAST_DAY.parse(raw);
    return String(raw);
  },
};

const make = defineCommand({
  name: 'new',
  summary: 'Create an admin token; it is shown once and not stored',
  options: [
    {
      flags: '--name <name>',
      doc: 'name of its owner, for the audit trail',
      kind: TOKEN_NAME,
      required: true,
    },
    { flags: '--role <role>', doc: TOKEN_ROLES.join(', '), kind: oneOf(TOKEN_ROLES), required: true },
    {
      flags: '--expires <day>',
      doc: 'last day on which it is valid, in UTC (default: it never expires)',
      kind: DAY,
    },
  ],
  run: async (context, { options: { name, role, expires = null } }) => {
    refusePast(expires, context.io.clock.now());
    const token = randomBytes(TOKEN_BYTES).toString('base64url');
    const line = hashedEntry(name, role, token, expires);
    await printAnswer(
      context,
      ownAnswer({ name, role, expires, token, line }),
      fieldList((made, style) => [
        ['token', style.text(made.token)],
        ['line', style.text(made.line)],
      ]),
    );
    const { io } = context;
    // stdout may be a file while the operator reads stderr on a terminal.
    const lines = sentenceLines(WHAT_NOW, await styleFor({ ...io, stdout: io.stderr }));
    io.stderr.write(`${lines.join('\n')}\n`);
    return EXIT_OK;
  },
});

/** A token is valid until the end of its last day, in UTC. */
function refusePast(expires: string | null, nowMs: number): void {
  const today = new Date(nowMs).toISOString().slice(0, 'YYYY-MM-DD'.length);
  if (expires === null || expires >= today) return;
  throw new CardpollError(
    'usage',
    'expired_token',
    `--expires: ${expires} is over; the token would not be accepted`,
  );
}

export const token: CommandSpec = {
  name: 'token',
  summary: 'Create tokens for the admin API',
  examples: [
    'cardpoll token new --name anna --role operator  # a token, and the line for the token file',
    'cardpoll token new --name ci --role viewer --expires 2027-01-31  # valid until the end of that day, in UTC',
    'cardpoll token new --name anna --role admin -o json  # for programs',
  ],
  subcommands: [make],
};
