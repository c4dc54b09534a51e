// A real notify socket as a service manager keeps it: a process binds a Unix datagram socket and writes down what comes. Node
// has none itself; perl-base is part of every Debian.

import { spawnOwned } from './owned-process.ts';
import { programPath } from './provision.ts';
import { waitFor } from './wait-for.ts';

const RECEIVER = `
  use Socket; $| = 1;
  my $name = shift; $name =~ s/^@/\\0/;
  socket(my $s, AF_UNIX, SOCK_DGRAM, 0) or die $!;
  bind($s, pack_sockaddr_un($name)) or die $!;
  print "bound\\n";
  while (defined recv($s, my $m, 8192, 0)) { $m =~ s/\\n/\\x1f/g; print "$m\\n"; }
`;

export class NotifyReceiver {
  /** Every message so far, as a list of its assignments. */
  readonly messages: string[][] = [];
  #output = '';
  /** When the last WATCHDOG=1 came, by this process's clock. */
  lastBeatAt = Number.NEGATIVE_INFINITY;

  /** @param address a path, or @ and an abstract name. */
  static async open(address: string): Promise<NotifyReceiver> {
    const receiver = new NotifyReceiver();
    const child = spawnOwned(programPath('perl'), ['-e', RECEIVER, address], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    child.stdout?.setEncoding('utf8').on('data', (chunk: string) => receiver.#take(chunk));
    await waitFor(() => receiver.messages.length > 0, { what: 'the notify socket' });
    receiver.messages.length = 0;
    return receiver;
  }

  /** All assignments so far, one after the other. */
  get assignments(): string[] {
    return this.messages.flat();
  }

  count(assignment: string): number {
    return this.assignments.filter((one) => one === assignment).length;
  }

  /** Resolves with the first assignment, from the given message on, that matches. */
  async waitFor(pattern: RegExp, { from = 0 } = {}): Promise<string> {
    const find = () =>
      this.messages
        .slice(from)
        .flat()
        .find((one) => pattern.test(one));
    return waitFor(find, { what: `a notification ${pattern}` });
  }

  #take(chunk: string): void {
    const lines = (this.#output + chunk).split('\n');
    this.#output = lines.pop() ?? '';
    for (const line of lines) {
      if (line === 'WATCHDOG=1') this.lastBeatAt = performance.now();
      this.messages.push(line.split('\x1f'));
    }
  }
}
