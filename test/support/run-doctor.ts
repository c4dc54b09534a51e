// `cardpoll doctor` as the tests read it that provoke its findings.
import { cliHere } from './cli-here.ts';

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

export async function runDoctor(env: Readonly<Record<string, string>>, ...args: string[]): Promise<Doctor> {
  const { code, stdout, stderr } = await cliHere(['doctor', '-o', 'json', ...args], { env });
  if (stdout === '') throw new Error(`the doctor found nothing: ${stderr}`);
  const report = JSON.parse(stdout) as Report;
  const found = (check: string) => report.items.find((item) => item.check === check);
  return { code, report, found, statusOf: (check) => found(check)?.status };
}
