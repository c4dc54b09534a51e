// The settings table as documents: a sample config file and the reference in docs/configuration.md. Both are kept in
// the repository and a test fails when they no longer match the table.

import { BadValue } from '../../src/config/kinds.ts';
import type { Setting } from '../../src/config/settings/setting.ts';
import { DOCUMENTED_SETTINGS } from '../../src/config/settings/settings.ts';
import { groupBy } from '../../src/domain/group-by.ts';
import { flow } from '../../src/terminal/line.ts';

/** The sample has one interface, which has no such setting. */
const NOT_OF_FLOW = /\.(true_values|pending)$/;

/** A YAML file that changes nothing: it has every setting, commented out, with its default. */
export function sampleConfig(): string {
  const lines = [
    '# cardpoll: every setting of the config file with its default. Flags and CARDPOLL_* variables override it.',
    '# Secrets do not belong here: give them as variables or files (docs/configuration.md).',
  ];
  let open: string[] = [];
  for (const setting of DOCUMENTED_SETTINGS) {
    if (setting.yaml === null || NOT_OF_FLOW.test(setting.yaml)) continue;
    const path = setting.yaml.replace('<interface>', 'flow').split('.');
    const sections = path.slice(0, -1);
    const shared = sections.findIndex((section, depth) => section !== open[depth]);
    const firstNew = shared === -1 ? sections.length : shared;
    if (sections.length === 0 || firstNew === 0) lines.push('');
    for (let depth = firstNew; depth < sections.length; depth += 1) {
      lines.push(`${'  '.repeat(depth)}#${sections[depth]}:`);
    }
    open = sections;
    const indent = '  '.repeat(sections.length);
    lines.push(`${indent}# ${setting.doc}${isLiteral(setting) ? '' : ` Default: ${setting.defaultText}.`}`);
    lines.push(`${indent}#${path.at(-1)}: ${isLiteral(setting) ? setting.defaultText : ''}`.trimEnd());
  }
  return `${lines.join('\n')}\n`;
}

/** True when the default can be written into the file as it is: it is neither a phrase nor a placeholder. */
function isLiteral(setting: Setting<unknown>): boolean {
  const { kind, defaultText } = setting;
  if (setting.default === null || /[\s$]/.test(defaultText)) return false;
  try {
    kind.parse(defaultText);
    return true;
  } catch (error) {
    if (!(error instanceof BadValue)) throw error;
    return false;
  }
}

/** Rules between settings and for all of them, a sentence or two each, with `code` in backticks. */
export function configurationRules(): readonly string[] {
  return RULES.split(/^- /m).slice(1);
}

/** docs/configuration.md: each setting in a paragraph, which a terminal of 80 columns shows without cutting. */
export function configurationReference(): string {
  const groups = groupBy(DOCUMENTED_SETTINGS, groupOf);
  const parts = [...groups].flatMap(([group, settings]) => [`## ${group}`, ...settings.map(entry)]);
  const rules = configurationRules().map((rule) => wrapped(`- ${rule}`, '  '));
  return `${[INTRODUCTION, ...parts, '## Rules', rules.join('\n')].join('\n\n')}\n`;
}

/** The first level of the config file. A secret has no place there: its credential names the level. */
function groupOf({ yaml, file }: Setting<unknown>): string {
  const [level = '', ...below] = (yaml ?? file?.credential ?? '').split('.');
  return below.length === 0 ? 'Instance, stores and access' : level;
}

function entry({ yaml, flag, env, file, kind, defaultText, doc }: Setting<unknown>): string {
  const names = [flag, file?.flag, env, file?.env].filter((name) => name !== null && name !== undefined);
  const own = yaml === null ? [] : [`**\`${yaml}\`**`];
  const head = [...own, ...names.map((name) => `\`${name}\``)].map((name, at, { length }) =>
    at < length - 1 ? `${name},` : name,
  );
  const text = `${doc} Value: ${kind.accepts}. Default: ${defaultText}.`;
  return [`- ${flow(head, ' ', COLUMNS - 2).join('\n  ')}`, wrapped(`  ${text}`, '  ')].join('\n\n');
}

const COLUMNS = 80;

/** The words in lines of 80 columns, where `text` has its own indentation already. */
function wrapped(text: string, indent: string): string {
  const words = text.trim().replace(/^- /, '').split(/\s+/);
  const first = text.startsWith('- ') ? '- ' : indent;
  return `${first}${flow(words, ' ', COLUMNS - indent.length).join(`\n${indent}`)}`;
}

const INTRODUCTION = `# Configuration

Generated from the settings table in \`src/config/settings/settings.ts\`; a test
fails when the two differ. To generate it again:

    npx vitest run --config test/vitest.config.ts test/unit/config -u

When a setting is given more than once, the first of these wins: flag,
environment variable, for a secret a credential of systemd or a file of
\`secret_files\`, config file, profile of the gateway, default. The config file
is YAML; [cardpoll.sample.yaml](cardpoll.sample.yaml) shows every key. An empty
variable counts as not set.

Below, each setting has its place in the config file, its flag and its
variables. A dot in a name means a level of the file.`;

const RULES = `- All problems are reported at once, each with its source; the exit code is then 78.
- Unknown keys in the config file and unknown \`CARDPOLL_*\` variables are errors.
- Set both Redis and PostgreSQL, or neither. Without them the daemon uses the embedded stores, which are for trials.
- The daemon needs a gateway URL. The profile, a shipped one or a file, describes how to call the gateway:
  \`docs/gateways.md\`. A key in the config file overrides the same key of the profile; an interface with a \`path\` in the config file
  replaces the whole interface of the profile. A profile contains no secrets.
- An address that is not loopback needs admin tokens: \`[name:]role:token[@last-day]\` entries, separated by
  commas or line ends, with a token of at least 16 characters, or \`sha256:\` and its hash; \`cardpoll token new\` makes one. A
  \`viewer\` may read, an \`operator\` may also change how polling runs, an \`admin\` also polling configs, retention and
  the removal of rules. An \`operator\` without a name may do everything, because the entries of earlier versions had neither names nor admins.
- Every setting that can contain a secret also has a variable that ends in \`_FILE\`: the path of a file with its value.
- A file with secrets must not be world-readable: token files, the key of \`api.tls_key\`, a config file with a password in a
  URL. A world-writable config file is refused.
- Trusted proxies need admin tokens.
- Under systemd the same settings can be credentials of the unit:
  \`LoadCredential=database_url:/etc/cardpoll/database_url\`; the names are \`redis_url\`, \`database_url\`, \`redis_sentinel_password\`, \`admin_tokens\`, \`gateway.token\`,
  \`gateway.hmac_key\`, \`gateway.username\`, \`gateway.password\`, \`gateway.client_id\`, \`gateway.client_secret\`, \`webhooks.secret\`, \`alerts.heartbeat_url\`, and \`client.token\` for clients. Flags and variables override credentials; credentials override
  the config file.
- A command that is not started by systemd reads the same secrets where the config file says that they are:
  \`secret_files: [/etc/credstore/cardpoll.*, /run/credstore/cardpoll.*]\`, which the Debian package writes. Only root may look into
  \`/etc/credstore\`: run the command with \`sudo\`. A config file with \`secret_files\` must belong to root or to the user of the
  command, and its group must not be able to write it. Where \`CREDENTIALS_DIRECTORY\` is set, \`secret_files\` is not used.
- \`polling.lease_ms\` must be at least 2 * T + 1000. T is the longest of \`gateway.timeout_ms\` and the \`timeout_ms\` of the interfaces.
- A duration is a number in the unit of the setting's name, or has a unit: \`500ms\`, \`15s\`, \`5m\`, \`1h\`.
`;
