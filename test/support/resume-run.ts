// A run that resumes cards, with the cards handed out that may wait, as operation and leader make it together.
import type { RecordStore } from '../../src/store/ports/records/record-store.ts';
import type { ResumeRun, ResumeSelection } from '../../src/store/ports/records/resume-records.ts';

export const RUN_REASON = 'the readings were wrong';
export const RUN_BY = { name: 'alice', role: 'operator' } as const;

export async function emptyRun(
  { resumes }: Pick<RecordStore, 'resumes'>,
  selection: ResumeSelection,
  stopAgain = false,
): Promise<ResumeRun> {
  const { total } = await resumes.preview(selection);
  return resumes.create({ selection, expected: total, by: RUN_BY, reason: RUN_REASON, stopAgain });
}

export async function filledRun(...params: Parameters<typeof emptyRun>): Promise<ResumeRun> {
  const [records] = params;
  return fill(records, (await emptyRun(...params)).id);
}

export async function fill({ resumes }: Pick<RecordStore, 'resumes'>, id: string): Promise<ResumeRun> {
  while (await resumes.handOut(id));
  return (await resumes.find(id)) as ResumeRun;
}

/** A card and its SIM, as the tests of records number them. */
export function simOf(cardId: number) {
  return { cardId, iccid: `8986${String(cardId).padStart(16, '0')}`, vendorId: null };
}

/** Carries a card of a run out, as a worker does that finds it stopped, or running. */
export async function carryOut(
  { resumes }: Pick<RecordStore, 'resumes'>,
  cardId: number,
  runId: string,
  wasStopped = true,
): Promise<void> {
  await resumes.claim(simOf(cardId), wasStopped, 60_000);
  await resumes.complete(simOf(cardId), runId, '2026-11');
}
