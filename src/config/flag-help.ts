// The help text of settings that are command-line options. Used by the commands' declarations.
import type { Setting } from './settings/setting.ts';

/** Text for a command's help: flag, accepted value and meaning. */
export function flagHelp(setting: Setting<unknown>): string {
  const env = setting.env ?? setting.file?.env ?? null;
  const unit = setting.kind.accepts.startsWith('milliseconds') ? ' ms' : '';
  const notes = [
    setting.defaultText === 'none' ? null : `default: ${setting.defaultText}${unit}`,
    env === null ? null : `env: ${env}`,
  ].filter((note) => note !== null);
  return `${setting.doc.replace(/\.$/, '')}${notes.length > 0 ? ` (${notes.join('; ')})` : ''}`;
}

/** The placeholder of a flag's value in help: `--redis-url <url>`. */
export function flagPlaceholder(setting: Setting<unknown>): string {
  const { flag, file, kind } = setting;
  if (flag === null && file !== null) return 'file';
  if (kind.accepts === 'host:port' || kind.accepts === 'path') return kind.accepts;
  return (flag ?? '').slice(2).split('-').at(-1) || 'value';
}
