// `cardpoll doctor` as the tests read it that provoke its findings.
import { cliHere } from './cli-here.ts';
import { type CliResult, runCli } from './processes.ts';

export interface Finding {
  readonly check: string;
  readonly status: string;
  readonly detail: string;
  readonly hint: string | null;
  readonly command: string | null;
}

interface Report {
  readonly status: string;
  readonly items: readonly Finding[];
}

interface Doctor {
  readonly code: number | null;
  readonly report: Report;
  found(check: string): Finding | undefined;
  statusOf(check: string): string | undefined;
}

type Environment = Readonly<Record<string, string>>;
const COMMAND = ['doctor', '-o', 'json'];

export async function runDoctor(env: Environment, ...args: string[]): Promise<Doctor> {
  return read(await cliHere([...COMMAND, ...args], { env }));
}

/** In a process of its own: for an environment that only a process has, such as a clock. */
export async function spawnDoctor(env: Environment): Promise<Doctor> {
  return read(await runCli(COMMAND, { env }));
}

function read({ code, stdout, stderr }: Pick<CliResult, 'code' | 'stdout' | 'stderr'>): Doctor {
  if (stdout === '') throw new Error(`the doctor found nothing: ${stderr}`);
  const report = JSON.parse(stdout) as Report;
  const found = (check: string) => report.items.find((item) => item.check === check);
  return { code, report, found, statusOf: (check) => found(check)?.status };
}
