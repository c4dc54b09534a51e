// Notifies the service manager with sd_notify(3): that this process is ready, is alive, reloads its configuration, or
// stops. Built by the composition root, only when NOTIFY_SOCKET is set.
//
// The watchdog signal is honest: it stops when the event loop is blocked, since a timer sends it, and when the process
// reports that a part of it is stuck. It continues while stores are unavailable, polling is paused or nothing is due: a
// restart would not help then.
import type { Condition, Overseer } from './messages.ts';
import { type NotifySocket, openNotifySocket } from './notify-socket.ts';

/** How often the condition is checked, unless the watchdog needs it more often. */
const LOOK_EVERY_MS = 1_000;
/** Signals per watchdog period: one may come late, or find the socket full. */
const BEATS_A_PERIOD = 3;
const LONGEST_STATUS = 300;

/** Environment variables that the service manager sets. */
interface NotifyVariables {
  readonly NOTIFY_SOCKET?: string | undefined;
  readonly WATCHDOG_USEC?: string | undefined;
  readonly WATCHDOG_PID?: string | undefined;
}

/** @returns null without NOTIFY_SOCKET. @throws as openNotifySocket does. */
export async function openServiceManager(
  variables: NotifyVariables,
  pid: number,
): Promise<ServiceManager | null> {
  const { NOTIFY_SOCKET: address = '' } = variables;
  if (address === '') return null;
  return new ServiceManager(await openNotifySocket(address), watchdogMs(variables, pid));
}

/** null: no watchdog, or the watchdog of another process. */
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
    // This timer alone must not keep the process alive.
    this.#timer.unref();
  }

  /** Sends READY=1 also when the work fails: then the old configuration is still in force. */
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
    this.#sendStatus(stuck.length > 0 ? `stuck: ${stuck.join(', ')}` : status);
    if (!this.#ready && problems.length === 0) this.#ready = this.socket.send('READY=1');
    if (this.watchdogMs !== null && stuck.length === 0) this.socket.send('WATCHDOG=1');
  }

  #sendStatus(text: string): void {
    // A line break would begin another assignment, and some of the text comes from the gateway.
    const status = text.replace(/\p{C}+/gu, ' ').slice(0, LONGEST_STATUS);
    if (status !== this.#status && this.socket.send(`STATUS=${status}`)) this.#status = status;
  }
}
