import { setAllowance } from '../../cards.ts';
import { ask, importCards, lasting, type OwnFault } from '../../fault.ts';
import type { Random } from '../../virtual/random.ts';
import { ACTOR, type World } from '../../world.ts';

const CARDS = 50;
const OVER_MB = 6;
/** Before the turn: their readings and a look at their stops. */
const BEFORE_MS = 125_000;
/** After the turn: some cards were read in the new month. */
const AFTER_MS = [4_000, 12_000] as const;
const BACK_MS = 60_000;
/** Instances look at the clock of the records every five seconds: until then readings are of the new month. */
const RELEASED_AFTER_MS = 5_500;

/** As when a standby takes over whose clock is behind: the former month is the present one once more, and its stops are released. */
export const clockBackAtTurn: OwnFault = {
  name: "records' clock set back over the turn",
  share: 0.5,
  most: 1,
  at: ({ turnsAfterMs }) => turnsAfterMs - BEFORE_MS,
  begin(world, draw) {
    const running = [...world.cards.values()].filter(
      ({ sim }) => !sim.stopped && !sim.isUnknown && world.gateway.usedMb(sim) > 2 * OVER_MB,
    );
    if (running.length === 0) return null;
    const cards = new Set(Array.from({ length: CARDS }, () => draw.oneOf(running)));
    const known = [...cards].map((card) =>
      setAllowance(card, Math.floor(card.sim.usedMb - OVER_MB), () => world.time.now),
    );
    void importCards(world, draw, cards).then(() => {
      for (const knows of known) knows();
    });
    const step = (ms: number) => {
      world.skewMs.records += ms;
      world.lastStep = world.time.now;
      world.lastRecordsStep = world.time.now;
    };
    const afterMs = draw.between(...AFTER_MS);
    const lastsMs = draw.between(15_000, 40_000);
    world.time.after(BEFORE_MS + afterMs, () => {
      if (world.calmSince !== null) return;
      step(-BACK_MS);
      lasting(world, lastsMs, () => step(BACK_MS));
      world.time.after(RELEASED_AFTER_MS, () => void release(world, draw));
    });
    return `${cards.size} cards are over their package, and ${afterMs} ms after the turn it is ${BACK_MS} ms earlier, for ${lastsMs} ms`;
  },
};

async function release(world: World, draw: Random): Promise<void> {
  await noteReleased(world, "state = 'held'");
  await ask(world, draw, 'release', ({ stops }) => stops.release(ACTOR, { all: true, reason: 'as drawn' }));
  await noteReleased(world, "authority = 'released'");
}

async function noteReleased(world: World, which: string): Promise<void> {
  const rows = await world.store.sql<{ cardId: number }>(`select card_id from card_stops where ${which}`);
  for (const { cardId } of rows) Object.assign(world.cards.get(cardId) ?? {}, { released: true });
}
