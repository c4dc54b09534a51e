// A run that resumes cards, with all its cards placed, as operation and leader make it together.
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
  while (await resumes.advance(id));
  return (await resumes.find(id)) as ResumeRun;
}
