// docs/runbook.md: every shipped alert and every finding of the doctor has its section there. What this and other pages
// say to type exists.
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { commandIn, nameOf } from '../../../src/cli/command.ts';
import { offerAt } from '../../../src/cli/commands/completion/offers.ts';
import { ROOT } from '../../../src/cli/commands/root.ts';
import { REASON_CODES } from '../../../src/domain/reasons.ts';

const read = (path: string) =>
  readFileSync(fileURLToPath(new URL(`../../../${path}`, import.meta.url)), 'utf8');
const RUNBOOK = read('docs/runbook.md');
const HEADINGS = [...RUNBOOK.matchAll(/^### (.*)$/gm)].map(([, heading = '']) => heading);
const SECTIONS = RUNBOOK.split(/^##+ /m)
  .slice(1)
  .map((text) => ({ heading: text.split('\n')[0] ?? '', text }));

describe('alerts', () => {
  interface Rule {
    readonly alert: string;
    readonly annotations: { readonly runbook_url: string };
  }
  const { groups } = parse(read('deploy/prometheus/cardpoll-rules.yaml')) as {
    groups: Array<{ rules: Rule[] }>;
  };

  it.each(groups.flatMap(({ rules }) => rules))('$alert leads to its section', ({ alert, annotations }) => {
    const heading = HEADINGS.find((one) => one.split(/[ ()]+/).includes(alert)) ?? '';
    expect(annotations.runbook_url).toBe(`docs/runbook.md#${anchorOf(heading)}`);
  });
});

it.each(checksOfTheDoctor())('the finding "%s" has a section', (check) => {
  expect(HEADINGS.flatMap((heading) => heading.replace(/ \(\w+\)$/, '').split(' and '))).toContain(check);
});

it('every section says what is seen and what to do; what confirms it is a command', () => {
  for (const { heading, text } of SECTIONS.filter((one) => HEADINGS.includes(one.heading))) {
    expect(text, heading).toMatch(/^- \*\*Seen\*\*: /m);
    expect(text, heading).toMatch(/^- \*\*(Look, r|R)epair\*\*: /m);
    if (/\*\*Look/.test(text)) expect(text, heading).toMatch(/^ +cardpoll /m);
  }
});

it('every link to a section leads somewhere', () => {
  const anchors = SECTIONS.map(({ heading }) => anchorOf(heading));
  for (const [, anchor] of RUNBOOK.matchAll(/\]\(#([^)]*)\)/g)) expect(anchors).toContain(anchor);
});

it.each([
  'README.md',
  'test/unit/health/sentences.txt',
  'docs/tour.md',
  'docs/installation.md',
  'docs/runbook.md',
  'docs/scaling.md',
  'docs/upgrading.md',
])('every command line of %s is one the binary takes', (path) => {
  const lines = [
    ...read(path).matchAll(/^ {4,}(cardpoll .*)$|(?<=-> )(cardpoll .*)$|`(cardpoll (?!\.)[^`<]*)`/gm),
  ];
  expect(lines.length).toBeGreaterThan(2);
  for (const [, block, reason, inline] of lines) {
    const words = (block ?? reason ?? inline ?? '').replace(/ +#.*/, '').split(' ');
    const [, ...typed] = words;
    const command = nameOf(commandIn(typed, ROOT)).split(' ').slice(1);
    const flags = words.filter((word) => word.startsWith('-')).map((word) => word.replace(/=.*/, ''));
    const known = offerAt(ROOT, [...command, '--']).words.map(({ text }) => text);
    expect(known, words.join(' ')).toEqual(expect.arrayContaining(flags));
    if (typed.length > 0 && !typed[0]?.startsWith('-')) expect(command, words.join(' ')).not.toEqual([]);
    const needed = (commandIn(typed, ROOT)[0].options ?? []).filter(({ required }) => required === true);
    const given = needed.filter(({ flags }) => words.some((word) => flags.split(/[ ,]+/).includes(word)));
    if (reason !== undefined) expect(given, words.join(' ')).toEqual(needed);
  }
});

it('names the config file for every command that calls the gateway without a daemon', () => {
  const lines = [...RUNBOOK.matchAll(/cardpoll gateway try [^`\n]*/g)].map(([line]) => line);
  expect(lines).not.toEqual([]);
  for (const line of lines) expect(line).toContain(' --config /etc/cardpoll/cardpoll.yaml ');
});

/** As the sources spell them: what names a finding, and the codes of the fleet's health. */
function checksOfTheDoctor(): string[] {
  const folders = ['src/operations/doctor/', 'src/cli/commands/doctor/'];
  const files = folders.flatMap((folder) =>
    readdirSync(fileURLToPath(new URL(`../../../${folder}`, import.meta.url))).map((name) => folder + name),
  );
  const text = [...files, 'src/doctor.ts'].map(read).join('\n');
  const named = [
    ...text.matchAll(/(?:check|CHECK|POLICY)(?: =|:) '([^']+)'/g),
    ...text.matchAll(/\b(?:ok|warning|failed|unknown|skipped|failure|answered)\('([^']+)'/g),
    ...text.matchAll(/(?:check|CHECK) = `(\w+) \$\{/g),
  ];
  return [...new Set([...named.map(([, name = '']) => name), ...REASON_CODES])].sort();
}

/** As GitHub makes it. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\w -]/g, '')
    .replaceAll(' ', '-');
}
