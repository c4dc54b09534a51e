// Sends datagrams to the service manager's notify socket ($NOTIFY_SOCKET of sd_notify(3)). Node has no datagrams over Unix
// sockets, so libc is called through koffi, which ships its binary: this needs no compiler and no helper process, and the
// unit only needs NotifyAccess=main. Used by service-manager.ts, which knows the messages.
import { CardpollError, messageOf } from '../platform/errors.ts';

export interface NotifySocket {
  /** Never blocks. @returns whether the service manager took the message. */
  send(message: string): boolean;
}

const AF_UNIX = 1;
const SOCK_DGRAM_CLOEXEC = 2 | 0o2000000;
const MSG_DONTWAIT_NOSIGNAL = 0x40 | 0x4000;
const LONGEST_PATH = 107;

/**
 * @param address an absolute path, or @ and a name in the abstract namespace.
 * @throws CardpollError `config` when the address is invalid, or the package koffi is not installed.
 */
export async function openNotifySocket(address: string): Promise<NotifySocket> {
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
  return {
    send: (text) => {
      const message = Buffer.from(text);
      return (
        sendto(fd, message, message.length, MSG_DONTWAIT_NOSIGNAL, target, target.length) === message.length
      );
    },
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
