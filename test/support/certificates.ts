// Certificates for one run of the tests, by openssl: an authority, and what it signs for servers and clients.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { programPath } from './provision.ts';
import { temporaryDirectory } from './temporary-directory.ts';

/** Paths of PEM files. */
export interface CertificateFiles {
  readonly cert: string;
  readonly key: string;
}

export class Authority {
  readonly #dir = temporaryDirectory('authority');
  readonly #own: CertificateFiles;
  #issued = 0;

  constructor() {
    this.#own = this.#make('/CN=cardpoll test authority', []);
  }

  /** Path of what clients and servers trust. */
  get ca(): string {
    return this.#own.cert;
  }

  /** @param names as openssl writes them: `IP:127.0.0.1,DNS:localhost` */
  issue(names: string): CertificateFiles {
    const { cert, key } = this.#own;
    return this.#make('/CN=cardpoll test', [
      '-CA',
      cert,
      '-CAkey',
      key,
      '-addext',
      `subjectAltName=${names}`,
    ]);
  }

  #make(subject: string, args: readonly string[]): CertificateFiles {
    this.#issued += 1;
    const files = {
      cert: join(this.#dir, `${this.#issued}.crt`),
      key: join(this.#dir, `${this.#issued}.key`),
    };
    const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', files.key];
    const request = ['req', '-x509', '-days', '2', '-subj', subject, '-out', files.cert, ...key, ...args];
    execFileSync(programPath('openssl'), request, { stdio: 'ignore' });
    return files;
  }
}

/** How a server presents itself over TLS. */
export interface ServerTls extends CertificateFiles {
  /** Whose clients it takes. */
  readonly ca: string;
  /** Whether a client must show a certificate of that authority. */
  readonly asksClients: boolean;
}
