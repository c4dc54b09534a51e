// Runs tests and prints the twenty files that cost most CPU: `npm run test:costs [-- --project units]`, by default npm
// test's. Figures of test/support/file-costs.ts. CPU, since the wall says more about what else the machine does.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const SHOWN = 20;
const given = process.argv.slice(2);
const args = given.length > 0 ? given : ['units', 'parts'].flatMap((name) => ['--project', name]);
const folder = mkdtempSync(join(tmpdir(), 'cardpoll-costs-'));
const file = join(folder, 'costs');
const { status } = spawnSync('npx', ['vitest', 'run', '--config', 'test/vitest.config.ts', ...args], {
  stdio: 'inherit',
  env: { ...process.env, TEST_COSTS: file },
});
const costs = readFileSync(file, 'utf8')
  .trim()
  .split('\n')
  .map((line) => line.split('\t'))
  .map(([own, children, wall, , path]) => ({ cpu: Number(own) + Number(children), wall: Number(wall), path }))
  .sort((a, b) => b.cpu - a.cpu);
rmSync(folder, { recursive: true });
const total = costs.reduce((sum, { cpu }) => sum + cpu, 0);
process.stdout.write('CPU s  wall s  file\n');
for (const { cpu, wall, path } of costs.slice(0, SHOWN))
  process.stdout.write(`${cpu.toFixed(1).padStart(5)}  ${wall.toFixed(1).padStart(6)}  ${path}\n`);
process.stdout.write(`${total.toFixed(1)} s of CPU in ${costs.length} files, without PostgreSQL's\n`);
process.exitCode = status ?? 1;
