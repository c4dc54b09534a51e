// A gateway that takes long for its calls and keeps, for each task type, the most calls that were in flight at a time. It can hold the
// answers back: calls that were begun before a loss are in flight after it, and show whether limits still count them. Every card is over
// its package there, and runs until it is stopped.
import { setTimeout as sleep } from 'node:timers/promises';
import { type InterfaceName, perInterface } from '../../src/domain/gateway-interface.ts';
import { perTaskType, TASK_TYPES, type TaskType } from '../../src/domain/task-type.ts';
import { seededRandom } from './gzip-damage.ts';
import { HEALTHY } from './healthy-answers.ts';
import { type ScriptedCall, type ScriptedGateway, startScriptedGateway } from './scripted-gateway.ts';

/** Calls in flight: of each task type and of all together. */
export type InFlight = Record<TaskType | 'all', number>;

const SHORTEST_MS = 300;
const LONGEST_MS = 800;

/** The calls of a type: stops are made by task package. */
const TYPE_OF: Record<InterfaceName, TaskType> = {
  ...perInterface(() => 'package' as const),
  realname: 'realname',
  flow: 'carddata',
};

export class LimitedGateway {
  readonly #random = seededRandom(1);
  readonly #stopped = new Set<string>();
  readonly #begun = none();
  readonly #now = none();
  #most = none();
  /** null: answers are not held back. */
  #held: Array<() => void> | null = null;
  #gateway: ScriptedGateway | null = null;

  static async start(): Promise<LimitedGateway> {
    const gateway = new LimitedGateway();
    gateway.#gateway = await startScriptedGateway((call) => gateway.#answer(call));
    return gateway;
  }

  get url(): string {
    return this.#gateway?.url ?? '';
  }

  /** Calls that were begun. */
  get begun(): Readonly<InFlight> {
    return { ...this.#begun };
  }

  get inFlight(): Readonly<InFlight> {
    return { ...this.#now };
  }

  /** The most in flight at a time since the last mark(). */
  get most(): Readonly<InFlight> {
    return { ...this.#most };
  }

  mark(): void {
    this.#most = { ...this.#now };
  }

  /** No call ends from now on. */
  hold(): void {
    this.#held ??= [];
  }

  letGo(): void {
    for (const go of this.#held?.splice(0) ?? []) go();
    this.#held = null;
  }

  async close(): Promise<void> {
    this.letGo();
    await this.#gateway?.close();
  }

  #answer({ interfaceName, iccid }: ScriptedCall) {
    const counted = [TYPE_OF[interfaceName], 'all'] as const;
    for (const name of counted) {
      this.#begun[name] += 1;
      this.#now[name] += 1;
      this.#most[name] = Math.max(this.#most[name], this.#now[name]);
    }
    return { body: this.#bodyOf(interfaceName, iccid), after: this.#end(counted) };
  }

  async #end(counted: ReadonlyArray<keyof InFlight>): Promise<void> {
    await sleep(SHORTEST_MS + (LONGEST_MS - SHORTEST_MS) * this.#random());
    if (this.#held !== null) await new Promise<void>((go) => this.#held?.push(go));
    for (const name of counted) this.#now[name] -= 1;
  }

  #bodyOf(interfaceName: InterfaceName, iccid: string): unknown {
    if (interfaceName === 'stop') this.#stopped.add(iccid);
    if (interfaceName === 'flow') return { used: 100 };
    if (interfaceName === 'card_status')
      return { cardStatus: this.#stopped.has(iccid) ? 'stopped' : 'active' };
    return HEALTHY[interfaceName];
  }
}

function none(): InFlight {
  return { ...perTaskType(() => 0), all: 0 };
}

/** What of it exceeds these limits, as `carddata 7 of 2`. */
export function exceeding(most: Readonly<InFlight>, limits: Partial<InFlight>): string[] {
  return [...TASK_TYPES, 'all' as const].flatMap((name) => {
    const { [name]: limit = Number.POSITIVE_INFINITY } = limits;
    return most[name] > limit ? [`${name} ${most[name]} of ${limit}`] : [];
  });
}
