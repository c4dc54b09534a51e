// cardpoll.yaml(5), from the settings table. Used by pages.ts.
import { configurationRules } from '../../config/reference.ts';
import type { Setting } from '../../config/settings/setting.ts';
import { DOCUMENTED_SETTINGS } from '../../config/settings/settings.ts';
import { EXIT_STATUS } from '../exit-codes.ts';
import { environmentOf, FILES } from './places.ts';
import { bold, item, page, prose, section, verbatim } from './roff.ts';

const EXAMPLE = [
  'redis_url: redis://10.0.0.4:6379',
  'database_url: postgres://cardpoll@10.0.0.4/cardpoll',
  'log_dir: /var/log/cardpoll',
  'gateway:',
  '  url: https://gateway.example',
  '  max_concurrency: 600',
  'polling:',
  '  retry_base_ms: 2000',
];

export function configPage(release: string): string {
  const inFile = DOCUMENTED_SETTINGS.filter(({ yaml }) => yaml !== null);
  const elsewhere = DOCUMENTED_SETTINGS.filter(({ yaml }) => yaml === null);
  return page('cardpoll.yaml', 5, release, [
    ...section('NAME', 'cardpoll.yaml \\- configuration of cardpoll'),
    ...section('SYNOPSIS', `${bold('cardpoll daemon --config')} /etc/cardpoll/cardpoll.yaml`),
    ...section(
      'DESCRIPTION',
      prose(
        `A YAML file with settings, read by every command that is given \`--config\` or \`CARDPOLL_CONFIG\`. Where a setting is
        given more than once, the first of these wins: flag, environment variable, this file, default. A dot in a name
        below means a level of the file.`,
      ),
      ...configurationRules().flatMap((rule) => ['.IP \\(bu 2', prose(rule)]),
    ),
    ...section('OPTIONS', ...inFile.flatMap((setting) => item(bold(setting.yaml ?? ''), meaningOf(setting)))),
    ...section(
      'SECRETS AND FLAGS',
      prose('These are never in the file.'),
      ...elsewhere.flatMap((setting) => item(bold(waysOf(setting).join(', ')), meaningOf(setting))),
    ),
    ...section('EXAMPLES', ...verbatim(EXAMPLE)),
    ...section('FILES', ...FILES),
    ...section('ENVIRONMENT', ...environmentOf(DOCUMENTED_SETTINGS)),
    ...section(
      'EXIT STATUS',
      ...EXIT_STATUS.filter(([code]) => code === 78).flatMap(([code, meaning]) =>
        item(bold(String(code)), prose(`${meaning}: all problems are reported at once.`)),
      ),
    ),
    ...section(
      'SEE ALSO',
      `${bold('cardpoll')}(1), ${bold('cardpoll-daemon')}(8), ${bold('cardpoll-doctor')}(1)`,
    ),
  ]);
}

function meaningOf(setting: Setting<unknown>): string {
  const ways = setting.yaml === null ? [] : waysOf(setting);
  const also = ways.length === 0 ? '' : ` Also ${ways.map((way) => `\`${way}\``).join(', ')}.`;
  return prose(`${setting.doc} Value: ${setting.kind.accepts}. Default: ${setting.defaultText}.${also}`);
}

/** Flags and variables. */
function waysOf(setting: Setting<unknown>): string[] {
  return [setting.flag, setting.file?.flag, setting.env, setting.file?.env].filter(
    (way) => way !== null && way !== undefined,
  );
}
