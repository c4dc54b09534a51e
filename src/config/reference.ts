// The settings table as documents: a sample config file and the reference in docs/configuration.md. Both are kept in
// the repository and a test fails when they no longer match the table.
import type { Setting } from './settings/setting.ts';
import { ALL_SETTINGS } from './settings/settings.ts';

/** A YAML file that changes nothing: every setting stands in it, commented out, with its default. */
export function sampleConfig(): string {
  const lines = [
    '# cardpoll: every setting of the config file with its default. Flags and CARDPOLL_* variables win over it.',
    '# Secrets never stand here: give them as variables or files (docs/configuration.md).',
  ];
  let open: string[] = [];
  for (const setting of ALL_SETTINGS) {
    if (setting.yaml === null) continue;
    const path = setting.yaml.split('.');
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

/** True when the default can be written into the file as it is, not a phrase or a place to be filled in. */
function isLiteral(setting: Setting<unknown>): boolean {
  return setting.kind.parse(setting.defaultText).ok && !/[\s$]/.test(setting.defaultText);
}

/** What holds between settings and for all of them, a sentence or two each; `code` stands in backticks. */
export function configurationRules(): readonly string[] {
  return RULES.split(/^- /m).slice(1);
}

/** docs/configuration.md. */
export function configurationReference(): string {
  const rows = ALL_SETTINGS.map((setting) => {
    const flag = setting.flag ?? setting.file?.flag ?? null;
    const env = [setting.env, setting.file?.env ?? null].filter((name) => name !== null);
    return [
      code(setting.yaml),
      code(flag),
      env.map(code).join(' or '),
      setting.kind.accepts,
      setting.defaultText,
      setting.doc,
    ];
  });
  return `${INTRODUCTION}
${row(['config file', 'flag', 'environment', 'value', 'default', 'meaning'])}
${row(Array(6).fill('---'))}
${rows.map(row).join('\n')}

${RULES}`;
}

const code = (name: string | null): string => (name === null ? '' : `\`${name}\``);
const row = (cells: readonly string[]): string =>
  `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;

const INTRODUCTION = `# Configuration

Generated from the settings table in \`src/config/settings/settings.ts\`; a test fails when the two differ
(\`npx vitest run --config test/vitest.config.ts test/unit/config -u\` writes this file anew).

Where a setting is given more than once, the first of these wins: flag, environment variable, config file, default.
The config file is YAML; [cardpoll.sample.yaml](cardpoll.sample.yaml) shows all of it. An empty variable counts as not set.
`;

const RULES = `## Rules

- All problems are reported at once, each with the place it comes from; the exit code is then 78.
- Unknown keys in the config file and unknown \`CARDPOLL_*\` variables are errors.
- Redis and PostgreSQL are set both or neither; neither means the embedded stores, which are for trying out.
- The daemon needs a gateway URL.
- An address other than a loopback one needs admin tokens: \`[name:]role:token[@last-day]\` entries, separated by
  commas or line ends, each token at least 16 characters, or \`sha256:\` and its hash: \`cardpoll token new\` makes one. A
  \`viewer\` may read, an \`operator\` may also change how polling runs, an \`admin\` also polling configs, retention and
  the removal of rules. An \`operator\` without a name may do everything.
- Every setting that is or may hold a secret has a variable that ends in \`_FILE\`: the path of a file with its value.
- A file that holds secrets must not be readable by everybody: token files, the key of \`api.tls_key\`, a config file with a
  password in a URL. A config file that everybody can write is refused.
- Trusted proxies need admin tokens.
- Under systemd the same settings are read from the credentials of the unit, where there are any:
  \`LoadCredential=database_url:/etc/cardpoll/database_url\`, and so \`redis_url\`, \`redis_sentinel_password\`, \`admin_tokens\`, \`gateway.token\`,
  \`gateway.hmac_key\`, \`webhooks.secret\`, for clients \`client.token\`. Flags and variables win over them, they win over the
  config file.
- \`polling.lease_ms\` is at least twice \`gateway.timeout_ms\` and 1000.
- Lengths of time are numbers in the unit of the setting's name, or carry a unit: \`500ms\`, \`15s\`, \`5m\`, \`1h\`.
`;
