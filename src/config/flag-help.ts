// Settings as command-line options: what a command's help says about them. Used by the commands' declarations.
import { nameOf, type Setting } from './setting.ts';

/** Text for a command's help: flag, accepted value and meaning. */
export function flagHelp(setting: Setting<unknown>): string {
  const env = setting.env ?? setting.file?.env ?? null;
  const notes = [
    setting.defaultText === 'none' ? null : `default: ${setting.defaultText}`,
    env === null ? null : `env: ${env}`,
  ].filter((note) => note !== null);
  return `${setting.doc.replace(/\.$/, '')}${notes.length > 0 ? ` (${notes.join('; ')})` : ''}`;
}

/** The word that stands for a flag's value in help: \`--redis-url <url>\`. */
export function flagPlaceholder(setting: Setting<unknown>): string {
  const last = nameOf(setting).split('.').at(-1) ?? 'value';
  return setting.kind.accepts === 'host:port' ? 'host:port' : last.replaceAll('_', '-').toLowerCase();
}
