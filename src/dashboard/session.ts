// Runs the dashboard on a terminal from opening to quitting: connects keys, feed, model, frames and terminal. Decides when a
// frame is drawn, and executes the jobs of the model.
import type { ApiClient } from '../api/client/client.ts';
import type { Clock } from '../platform/clock.ts';
import { CardpollError, messageOf } from '../platform/errors.ts';
import { reduce } from './model.ts';
import { SnapshotFeed } from './snapshot-feed.ts';
import { type Event, type Job, type State, sourcesOf } from './state.ts';
import { keyOfPending, keysIn, type Terminal } from './terminal.ts';
import { renderFrame } from './views/frame.tsx';

export interface SessionDependencies {
  readonly client: ApiClient;
  readonly clock: Clock;
  readonly terminal: Terminal;
  /** Whether requests carry a token, which may be read-only. */
  readonly hasToken: boolean;
}

/** Events other than key presses. Events within LEISURE_MS are drawn as one frame. */
const LEISURELY: ReadonlySet<Event['type']> = new Set(['tick', 'received', 'failed']);
const LEISURE_MS = 80;
/** An Esc without further input for this long is the key, not the beginning of a sequence. */
const ESCAPE_MS = 25;

export class Session {
  readonly #feed: SnapshotFeed;
  #state: State;
  #frameTimer: NodeJS.Timeout | undefined;
  #escapeTimer: NodeJS.Timeout | undefined;
  #pendingKeys = '';
  #roleIsKnown: boolean;
  #end: (error?: unknown) => void = () => {};

  constructor(
    initial: State,
    private readonly deps: SessionDependencies,
  ) {
    this.#state = initial;
    this.#roleIsKnown = !deps.hasToken;
    const { client, clock } = deps;
    this.#feed = new SnapshotFeed({
      client,
      clock,
      emit: (event) => this.#guarded(() => this.#dispatch(event)),
    });
  }

  /** Resolves when the operator quits. Rejects with the signal's reason, or with the error that ended the session. */
  async run(signal: AbortSignal): Promise<'quit' | 'interrupted'> {
    const { terminal } = this.deps;
    const ended = new Promise<void>((resolve, reject) => {
      this.#end = (error) => (error === undefined ? resolve() : reject(error));
    });
    const abort = () => this.#end(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    terminal.open(
      (text) => this.#guarded(() => this.#read(text)),
      () => this.#guarded(() => this.#resized()),
    );
    try {
      this.#draw();
      this.#feed.want({ sources: sourcesOf(this.#state), card: null });
      this.#feed.start();
      await ended;
      return this.#state.exit ?? 'quit';
    } finally {
      this.#feed.stop();
      clearTimeout(this.#frameTimer);
      clearTimeout(this.#escapeTimer);
      signal.removeEventListener('abort', abort);
      terminal.close();
    }
  }

  #resized(): void {
    this.deps.terminal.clear();
    this.#dispatch({ type: 'resized', ...this.deps.terminal.size });
  }

  #guarded(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#end(error);
    }
  }

  #read(text: string): void {
    clearTimeout(this.#escapeTimer);
    const { keys, pending } = keysIn(this.#pendingKeys + text);
    this.#pendingKeys = pending;
    for (const one of keys)
      this.#dispatch('key' in one ? { type: 'key', key: one.key } : { type: 'pasted', text: one.pasted });
    const alone = keyOfPending(pending);
    if (alone === null) return;
    this.#escapeTimer = setTimeout(() => {
      this.#pendingKeys = '';
      this.#guarded(() => this.#dispatch({ type: 'key', key: alone }));
    }, ESCAPE_MS);
  }

  #dispatch(event: Event): void {
    const before = this.#state;
    const after = reduce(before, event);
    this.#state = after;
    if (after.exit !== null) this.#end();
    if (after.exit !== null || after === before) return;
    if (sourcesOf(after) !== sourcesOf(before) || after.card !== before.card)
      this.#feed.want({ sources: sourcesOf(after), card: after.card });
    if (after.job !== null && after.job !== before.job) void this.#carryOut(after.job);
    if (after.redraws !== before.redraws) this.deps.terminal.clear();
    if (after.yields !== before.yields) this.deps.terminal.yieldToShell();
    if (event.type === 'received' && event.reading.source === 'overview') this.#learnRole();
    if (LEISURELY.has(event.type)) this.#drawSoon();
    else this.#draw();
  }

  async #carryOut(job: Job): Promise<void> {
    const result = await job(this.deps.client).catch(
      (error: unknown): Event => ({
        type: 'refused',
        problem: messageOf(error),
        readOnly: error instanceof CardpollError && error.code === 'forbidden',
      }),
    );
    this.#guarded(() => {
      this.#dispatch(result);
      this.#feed.refresh();
    });
  }

  /** Asks once, as soon as the daemon answers. */
  #learnRole(): void {
    if (this.#roleIsKnown) return;
    this.#roleIsKnown = true;
    this.deps.client.whoami().then(
      ({ body }) => {
        if (body.role === 'viewer') this.#guarded(() => this.#dispatch({ type: 'read-only' }));
      },
      () => {}, // Without an answer a forbidden key reports the refusal when it is pressed.
    );
  }

  #drawSoon(): void {
    this.#frameTimer ??= setTimeout(() => this.#guarded(() => this.#draw()), LEISURE_MS);
  }

  #draw(): void {
    clearTimeout(this.#frameTimer);
    this.#frameTimer = undefined;
    this.deps.terminal.paint(renderFrame(this.#state));
  }
}
