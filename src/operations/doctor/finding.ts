// Turns an error that ended a check into a finding. Used by everything in this folder and by src/doctor.ts.
import { type Finding, failed, unknown } from '../../domain/finding.ts';
import { CardpollError, messageOf } from '../../platform/errors.ts';

/** A check that ended with an error: its message becomes the finding. */
export function failure(check: string, error: unknown, command: string | null = null): Finding {
  return failed(check, messageOf(error), { hint: hintOf(error), command });
}

/** Runs a check that needs an answer of a store; without one its finding is `unknown`. */
export async function answered(check: string, look: () => Promise<Finding[]>): Promise<Finding[]> {
  try {
    return await look();
  } catch (error) {
    return [unknown(check, messageOf(error), { hint: hintOf(error) })];
  }
}

function hintOf(error: unknown): string | null {
  return error instanceof CardpollError ? (error.hint ?? null) : null;
}
