// Places the cards of runs that resume cards, and marks those of cancelled runs, in steps. Runs on the leader, so that a run
// is completed whatever became of the instance that made it. The record store says how far a run is.
import { LoopService } from '../../platform/loop.ts';
import type { ResumeRecords } from '../../store/ports/records/resume-records.ts';
import type { LeaderMeans } from '../leadership.ts';

const LOOK_EVERY_MS = 1_000;

export class ResumeFiller extends LoopService {
  constructor(
    private readonly deps: LeaderMeans & {
      readonly resumes: Pick<ResumeRecords, 'withStepsLeft' | 'advance'>;
    },
  ) {
    super('resume-filler', deps);
  }

  /** One step of each run, so that a small run does not wait for a large one. */
  async runOnce(): Promise<number> {
    const { resumes, fence } = this.deps;
    if (fence() === null) return LOOK_EVERY_MS;
    let isStepLeft = false;
    for (const id of await resumes.withStepsLeft()) {
      if (await resumes.advance(id)) isStepLeft = true;
    }
    return isStepLeft ? 0 : LOOK_EVERY_MS;
  }
}
