// The composition roots of the commands that need only a gateway: `cardpoll gateway try` and `cardpoll gateway simulate`. Called
// by main.ts. Separate from wiring.ts, so that they start without the libraries of stores and API, which take most of a second to
// load.
import type { Launchers, Listening, SimulateOptions } from './cli/launchers.ts';
import { MonthCalendar } from './domain/cards/month-calendar.ts';
import { startSimulator } from './gateway/simulate/simulator.ts';
import { tryInterfaces } from './gateway/trial/trial.ts';
import { systemClock } from './platform/clock.ts';
import { run } from './signals.ts';

/** `cardpoll gateway try`. */
export const tryGateway: Launchers['tryGateway'] = ({ gateway, proxies, timeZone }, card, only) =>
  tryInterfaces(gateway, only, card, { clock: systemClock, calendar: new MonthCalendar(timeZone), proxies });

/** `cardpoll gateway simulate`: serves until SIGTERM or SIGINT. */
export function runSimulator(options: SimulateOptions, listening: Listening): Promise<number> {
  return run(async (teardown) => {
    const { listen, ...behaviour } = options;
    const simulator = await startSimulator({ ...listen, ...behaviour });
    teardown.add(() => simulator.close());
    listening(simulator.url);
  });
}
