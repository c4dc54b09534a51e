// Prints a benchmark's results as an aligned table. Used by the benches of this folder.

export function printTable(header: readonly string[], rows: ReadonlyArray<readonly string[]>): void {
  const all = [header, ...rows];
  const widths = header.map((_, column) => Math.max(...all.map((row) => (row[column] ?? '').length)));
  for (const row of all) {
    const cells = row.map((cell, column) =>
      column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0),
    );
    process.stdout.write(`${cells.join('  ')}\n`);
  }
}

export function perSecond(rate: number): string {
  return Math.round(rate).toLocaleString('en');
}
