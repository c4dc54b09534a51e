// Makes cards with an order due for task package: a stop that an operator ordered or released, or a resume. The record store
// gives a card again after a minute until its order is carried out, so an order survives a lost queue. Runs on the leader,
// with what else becomes of stops as time passes: unwanted-stops.ts and month-start.ts.
import type { Clock } from '../../platform/clock.ts';
import { type LoopErrorHandler, LoopService } from '../../platform/loop.ts';
import type { LiveStore } from '../../store/ports/live/live-store.ts';
import type { RecordStore } from '../../store/ports/records/record-store.ts';
import type { MonthStart } from './month-start.ts';
import type { UnwantedStops } from './unwanted-stops.ts';

const LOOK_EVERY_MS = 1_000;
/** Of each kind of order, in one turn: a run of resumes fills the queue only as fast as ordinary polling does. */
const CARDS_A_TURN = 2_000;

export class OrderFeeder extends LoopService {
  constructor(
    private readonly deps: {
      readonly live: {
        readonly work: Pick<LiveStore['work'], 'makeDue'>;
        readonly cards: LiveStore['cards'];
      };
      readonly records: {
        readonly stops: Pick<RecordStore['stops'], 'due'>;
        readonly resumes: Pick<RecordStore['resumes'], 'due'>;
      };
      readonly unwanted: Pick<UnwantedStops, 'run'>;
      readonly monthStart: Pick<MonthStart, 'run'>;
      readonly queueCap: number;
      readonly fence: () => number | null;
      readonly clock: Clock;
      readonly onError: LoopErrorHandler;
    },
  ) {
    super('order-feeder', deps);
  }

  async runOnce(): Promise<number> {
    const { fence, unwanted, monthStart } = this.deps;
    if (fence() === null) return LOOK_EVERY_MS;
    await this.#feed();
    await unwanted.run();
    await monthStart.run();
    return LOOK_EVERY_MS;
  }

  async #feed(): Promise<void> {
    const { live, records, queueCap } = this.deps;
    const stops = await records.stops.due(CARDS_A_TURN);
    const resumes = await records.resumes.due(CARDS_A_TURN);
    const due = [...new Set([...stops, ...resumes].map(({ cardId }) => cardId))];
    if (due.length === 0) return;
    // The cache does not know of the order yet.
    await live.cards.drop(due);
    await live.work.makeDue('package', due, queueCap);
  }
}
