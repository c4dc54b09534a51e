// Notifies the service manager with sd_notify(3): that this process is ready, is alive, reloads its configuration, or stops.
// Built by the composition root, only when NOTIFY_SOCKET is set.
//
// The watchdog signal reflects real progress: it stops when the event loop is blocked, since a timer sends it, and when the
// process reports a stuck part. It continues while stores are unavailable, polling is paused or nothing is due: a restart would
// not help then.
//
// Node has no datagrams over Unix sockets, so libc is called through koffi, which ships its binary: this needs no compiler and no
// helper process, and the unit only needs NotifyAccess=main. systemd-notify starts a process for each message and needs
// NotifyAccess=all.
import { CardpollError, messageOf } from './errors.ts';

/** The condition of this process. */
export interface Condition {
  /** Why it is not ready, one sentence each; empty when it is ready. */
  readonly problems: readonly string[];
  /** Names of the stuck parts, which only a restart fixes; empty without any. */
  readonly stuck: readonly string[];
  /** One line for people. */
  readonly status: string;
}

/** How often the condition is checked, unless the watchdog needs it more often. */
const LOOK_EVERY_MS = 1_000;
/** Signals per watchdog period, because one may come late, or find the socket full. */
const BEATS_A_PERIOD = 3;
const LONGEST_STATUS = 300;

/**
 * @param variables NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID of the service manager.
 * @returns null without NOTIFY_SOCKET. @throws as openNotifySocket does.
 */
export async function openServiceManager(
  variables: NodeJS.ProcessEnv,
  pid: number,
): Promise<ServiceManager | null> {
  const { NOTIFY_SOCKET: address = '' } = variables;
  if (address === '') return null;
  return new ServiceManager(await openNotifySocket(address), watchdogMs(variables, pid));
}

/** null: no watchdog, or the watchdog of another process. */
function watchdogMs({ WATCHDOG_USEC, WATCHDOG_PID }: NodeJS.ProcessEnv, pid: number): number | null {
  const forThis = WATCHDOG_PID === undefined || WATCHDOG_PID === '' || Number(WATCHDOG_PID) === pid;
  const micros = Number(WATCHDOG_USEC);
  return forThis && micros > 0 ? micros / 1_000 : null;
}

export class ServiceManager {
  #timer: NodeJS.Timeout | undefined;
  #ready = false;
  #status = '';

  constructor(
    private readonly send: Send,
    private readonly watchdogMs: number | null,
  ) {}

  /** Checks the condition periodically from now on. */
  watch(condition: () => Condition): void {
    const look = () => this.#look(condition());
    look();
    const beatEveryMs = (this.watchdogMs ?? Number.POSITIVE_INFINITY) / BEATS_A_PERIOD;
    this.#timer = setInterval(look, Math.min(LOOK_EVERY_MS, beatEveryMs));
    // This timer alone must not keep the process alive.
    this.#timer.unref();
  }

  /**
   * Runs `work`, which reloads the configuration. Sends READY=1 even if it fails, because the old configuration is still in
   * force.
   */
  async reload(work: () => Promise<void>): Promise<void> {
    if (!this.#ready) return work();
    const micros = process.hrtime.bigint() / 1_000n;
    this.send(`RELOADING=1\nMONOTONIC_USEC=${micros}`);
    try {
      await work();
    } finally {
      this.send('READY=1');
    }
  }

  /** Reports that the process shuts down, within this many milliseconds. */
  stopping(withinMs: number): void {
    clearInterval(this.#timer);
    this.send(`STOPPING=1\nSTATUS=ending\nEXTEND_TIMEOUT_USEC=${Math.round(withinMs * 1_000)}`);
  }

  #look({ problems, stuck, status }: Condition): void {
    this.#sendStatus(stuck.length > 0 ? `stuck: ${stuck.join(', ')}` : status);
    if (!this.#ready && problems.length === 0) this.#ready = this.send('READY=1');
    if (this.watchdogMs !== null && stuck.length === 0) this.send('WATCHDOG=1');
  }

  #sendStatus(text: string): void {
    // A line break would begin another assignment, and the text is partly from the gateway.
    const status = text.replace(/\p{C}+/gu, ' ').slice(0, LONGEST_STATUS);
    if (status !== this.#status && this.send(`STATUS=${status}`)) this.#status = status;
  }
}

/** Never blocks. @returns whether the service manager took the message. */
type Send = (message: string) => boolean;

const AF_UNIX = 1;
const SOCK_DGRAM_CLOEXEC = 2 | 0o2000000;
const MSG_DONTWAIT_NOSIGNAL = 0x40 | 0x4000;
const LONGEST_PATH = 107;

/**
 * @param address an absolute path, or @ and a name in the abstract namespace.
 * @throws CardpollError `config` when the address is invalid, or the package koffi is not installed.
 */
async function openNotifySocket(address: string): Promise<Send> {
  const name = Buffer.from(address);
  if (!/^[/@]./.test(address) || name.length > LONGEST_PATH) {
    throw new CardpollError(
      'config',
      'notify_socket_unusable',
      `NOTIFY_SOCKET is neither a path nor an abstract name: ${JSON.stringify(address)}`,
      { hint: 'set by systemd; unset NOTIFY_SOCKET when not running under systemd' },
    );
  }
  const { socket, sendto } = await loadLibc();
  const target = socketAddress(name);
  const fd = socket(AF_UNIX, SOCK_DGRAM_CLOEXEC, 0);
  return (text) => {
    const message = Buffer.from(text);
    return (
      sendto(fd, message, message.length, MSG_DONTWAIT_NOSIGNAL, target, target.length) === message.length
    );
  };
}

interface Libc {
  socket(domain: number, type: number, protocol: number): number;
  sendto(fd: number, data: Buffer, length: number, flags: number, to: Buffer, toLength: number): number;
}

async function loadLibc(): Promise<Libc> {
  try {
    const { default: koffi } = await import('koffi');
    const libc = koffi.load(null);
    return {
      socket: libc.func('int socket(int, int, int)'),
      sendto: libc.func('int64_t sendto(int, const uint8_t *, size_t, int, const uint8_t *, uint32_t)'),
    } as unknown as Libc;
  } catch (error) {
    throw new CardpollError(
      'config',
      'notify_socket_unusable',
      `the service manager waits for notifications, but the package koffi, which sends them, cannot be loaded: ${messageOf(error)}`,
      {
        hint: 'install with optional packages, or set Type=exec and no WatchdogSec in the unit',
        cause: error,
      },
    );
  }
}

/** A sockaddr_un: the family in the byte order of the machine, then the path and a zero, or a zero and the abstract name. */
function socketAddress(name: Buffer): Buffer {
  const family = Buffer.from(Uint16Array.of(AF_UNIX).buffer);
  const abstract = name[0] === '@'.charCodeAt(0);
  return abstract
    ? Buffer.concat([family, Buffer.from([0]), name.subarray(1)])
    : Buffer.concat([family, name, Buffer.from([0])]);
}
