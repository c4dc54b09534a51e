// Holds back what a handler does with its reply until it is known whether the client still waits for it. Used by
// answer-in-time.ts, which gives it to handlers in place of the framework's reply: one that ends late must not touch an
// answer that is out already. Knows the few methods that handlers use.
import type { FastifyReply, FastifyRequest } from 'fastify';

export type Handler = (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>;

export class HeldReply {
  readonly #headers: Record<string, string> = {};
  #payload: unknown;

  private constructor(private status: number) {}

  /** Runs a handler to its end. @param status unless the handler sets another. @returns what it answered. */
  static async of(status: number, run: (reply: FastifyReply) => Promise<unknown>): Promise<HeldReply> {
    const held = new HeldReply(status);
    const returned = await run(held as unknown as FastifyReply);
    if (returned !== held) held.#payload = returned;
    return held;
  }

  code(status: number): this {
    this.status = status;
    return this;
  }

  header(name: string, value: string): this {
    this.#headers[name] = value;
    return this;
  }

  type(contentType: string): this {
    return this.header('content-type', contentType);
  }

  send(payload: unknown): this {
    this.#payload = payload;
    return this;
  }

  sendOn(reply: FastifyReply): FastifyReply {
    return reply.code(this.status).headers(this.#headers).send(this.#payload);
  }

  /** As it would have been sent. */
  written(reply: FastifyReply): { readonly status: number; readonly body: string } {
    const body =
      this.#payload === undefined
        ? ''
        : reply.serializeInput(this.#payload as Record<string, unknown>, `${this.status}`);
    return { status: this.status, body: String(body ?? '') };
  }
}
