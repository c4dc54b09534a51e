// What the service manager is told of this process, in the words of sd_notify(3): that it is ready, that it is alive, that it
// reads its configuration anew, that it ends. Built by the composition root where NOTIFY_SOCKET is set, and only there.
//
// The beat of the watchdog is real: it stops when the event loop stands still, since a timer sends it, and when the process
// says that something in it is stuck. It goes on while stores are away, polling is paused or nothing is due:
// a restart would not help.
import type { Condition, Overseer } from './condition.ts';
import { type NotifySocket, openNotifySocket } from './notify-socket.ts';

/** How often the condition is looked at, where no watchdog wants it sooner. */
const LOOK_EVERY_MS = 1_000;
/** Beats a watchdog period: one may come late, or find the socket full. */
const BEATS_A_PERIOD = 3;
const LONGEST_STATUS = 300;

/** As the service manager sets them. */
interface NotifyVariables {
  readonly NOTIFY_SOCKET?: string | undefined;
  readonly WATCHDOG_USEC?: string | undefined;
  readonly WATCHDOG_PID?: string | undefined;
}

/** @returns null where nobody wants to be notified. Throws like openNotifySocket. */
export async function openServiceManager(
  variables: NotifyVariables,
  pid: number,
): Promise<ServiceManager | null> {
  const { NOTIFY_SOCKET: address = '' } = variables;
  if (address === '') return null;
  return new ServiceManager(await openNotifySocket(address), watchdogMs(variables, pid));
}

/** null: no watchdog, or one for another process. */
function watchdogMs({ WATCHDOG_USEC, WATCHDOG_PID }: NotifyVariables, pid: number): number | null {
  const forThis = WATCHDOG_PID === undefined || WATCHDOG_PID === '' || Number(WATCHDOG_PID) === pid;
  const micros = Number(WATCHDOG_USEC);
  return forThis && micros > 0 ? micros / 1_000 : null;
}

class ServiceManager implements Overseer {
  #timer: NodeJS.Timeout | undefined;
  #ready = false;
  #status = '';

  constructor(
    private readonly socket: NotifySocket,
    private readonly watchdogMs: number | null,
  ) {}

  watch(condition: () => Condition): void {
    const look = () => this.#look(condition());
    look();
    const beatEveryMs = (this.watchdogMs ?? Number.POSITIVE_INFINITY) / BEATS_A_PERIOD;
    this.#timer = setInterval(look, Math.min(LOOK_EVERY_MS, beatEveryMs));
    // Whatever else runs keeps the process alive, or nothing does.
    this.#timer.unref();
  }

  /** Ends with READY=1 also when the work fails: then the former configuration is in force. */
  async reload(work: () => Promise<void>): Promise<void> {
    if (!this.#ready) return work();
    const micros = process.hrtime.bigint() / 1_000n;
    this.socket.send(`RELOADING=1\nMONOTONIC_USEC=${micros}`);
    try {
      await work();
    } finally {
      this.socket.send('READY=1');
    }
  }

  stopping(withinMs: number): void {
    clearInterval(this.#timer);
    this.socket.send(`STOPPING=1\nSTATUS=ending\nEXTEND_TIMEOUT_USEC=${Math.round(withinMs * 1_000)}`);
  }

  #look({ problems, stuck, status }: Condition): void {
    this.#tellStatus(stuck.length > 0 ? `stuck: ${stuck.join(', ')}` : status);
    if (!this.#ready && problems.length === 0) this.#ready = this.socket.send('READY=1');
    if (this.watchdogMs !== null && stuck.length === 0) this.socket.send('WATCHDOG=1');
  }

  #tellStatus(text: string): void {
    // A line break would begin another assignment, and some of the text is the gateway's.
    const status = text.replace(/\p{C}+/gu, ' ').slice(0, LONGEST_STATUS);
    if (status !== this.#status && this.socket.send(`STATUS=${status}`)) this.#status = status;
  }
}
