// Words that a reader with English as a second language has to read twice, and what to write instead (CONTRIBUTING.md, "Style").
// Used by the tests of the changelog and of the titles of tests.
const INSTEAD: ReadonlyArray<readonly [RegExp, string]> = [
  [/\b(tells?|told)\b/i, 'says, reports, shows or logs'],
  [/\b(stands?|stood)\b/i, 'is, or is stored'],
  [/\b(nobody|anybody|somebody|whoever)\b/i, 'no one, the operator, any client'],
  [/\bso many\b/i, 'a number of'],
  [/\bfor ever\b/i, 'indefinitely'],
  [/\banew\b/i, 'again'],
  [/\bmend(s|ed)?\b/i, 'fixed'],
  [/\bbeside\b/i, 'next to'],
  [/\bdear\b/i, 'expensive'],
  [/\bwhose \w+ is none\b/i, 'without'],
];

/** What is quoted as code may have any word. @returns a line for each word that has a better one. */
export function wordsToReplace(text: string): string[] {
  return INSTEAD.filter(([word]) => word.test(text.replace(/`[^`]*`/g, ''))).map(
    ([word, instead]) => `"${text.match(word)?.[0]}", better ${instead}: ${text}`,
  );
}
