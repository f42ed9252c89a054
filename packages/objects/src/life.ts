import type { Alarms } from "./alarms.ts";
import { LifeEndedError, Storage } from "./storage.ts";

/** An object of a class, by its methods. */
export type Methods = Record<string, (...args: readonly unknown[]) => unknown>;

/** What a Durable Object class is constructed with: as much of `DurableObjectState` as the broker's use. */
export interface ObjectState {
  readonly id: { readonly name: string | undefined; toString(): string };
  readonly storage: Storage;
  /** Lets calls wait until `work` is done. */
  blockConcurrencyWhile<Result>(work: () => Promise<Result>): Promise<Result>;
  waitUntil(work: Promise<unknown>): void;
  /** Ends this life: what is not committed is lost, and calls that are under way fail with the reason. */
  abort(reason?: string): void;
}

export interface LifeInput {
  readonly id: string;
  readonly name: string | null;
  readonly file: string;
  readonly alarms: Alarms;
  construct(state: ObjectState, life: Life): object;
  /** It is over: the next call begins another. */
  ended(life: Life): void;
}

/** An object from its start on a file until it is aborted, or everything ends. */
export class Life {
  readonly #input: LifeInput;
  readonly #storage: Storage;
  readonly #object: Methods;
  /** What calls wait for. */
  #gate: Promise<unknown> | null = null;
  /** Ends calls that are under way. */
  readonly #underWay = new Set<(reason: unknown) => void>();
  #isOver = false;
  #ringing: Promise<void> = Promise.resolve();

  /** Throws what the constructor throws, and `SqliteError` for a file that is no database. */
  constructor(input: LifeInput) {
    this.#input = input;
    const { id, name, file, alarms } = input;
    this.#storage = new Storage(file, { id, name, alarms, lost: (error) => this.#end(error) });
    try {
      this.#object = input.construct(this.#state(), this) as Methods;
    } catch (error) {
      this.#storage.end(false);
      throw error;
    }
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** What it has written and not committed; others are told of nothing before that. */
  get uncommitted(): Promise<void> | null {
    return this.#storage.uncommitted;
  }

  /** Calls a method. Resolves when everything that the answer can depend on is durable. */
  call(method: string, args: readonly unknown[]): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (this.#isOver) return reject(new LifeEndedError("the object has ended"));
      this.#underWay.add(reject);
      this.#answer(method, args)
        .then(resolve, reject)
        .finally(() => this.#underWay.delete(reject));
    });
  }

  /** Rings the alarm if it is due, after the one before. */
  ring(nowMs: () => number): Promise<void> {
    this.#ringing = this.#ringing.then(async () => {
      await this.#opened();
      if (this.#isOver || !this.#storage.beginRing(nowMs())) return;
      await this.#object.alarm?.();
      this.#storage.endRing();
      await this.#storage.uncommitted;
    });
    return this.#ringing;
  }

  /** Commits what is written, and ends. */
  close(): void {
    this.#storage.end(true);
    this.#end(new LifeEndedError("the broker is stopping"));
  }

  async #answer(method: string, args: readonly unknown[]): Promise<unknown> {
    if (this.#gate !== null) await this.#opened();
    const called = this.#object[method];
    if (typeof called !== "function") throw new TypeError(`the object has no method ${method}`);
    // As on the platform nobody shares memory with an object: bytes that come in one call are packed over by the next.
    const result = structuredClone(await called.apply(this.#object, structuredClone(args) as unknown[]));
    if (this.#storage.uncommitted !== null) await this.#storage.uncommitted;
    return result;
  }

  async #opened(): Promise<void> {
    while (this.#gate !== null) await this.#gate;
  }

  #state(): ObjectState {
    const { id, name } = this.#input;
    return {
      id: { name: name ?? undefined, toString: () => id },
      storage: this.#storage,
      blockConcurrencyWhile: (work) => {
        const done = Promise.all([this.#gate, work()]).then(([, result]) => result);
        const gate: Promise<unknown> = done.then(
          () => this.#open(gate),
          (error) => this.#end(error),
        );
        this.#gate = gate;
        return done;
      },
      waitUntil: (work) => void work.catch(() => undefined),
      abort: (reason = "the object was aborted") => this.#end(new Error(reason)),
    };
  }

  #open(gate: Promise<unknown>): void {
    if (this.#gate === gate) this.#gate = null;
  }

  #end(reason: unknown): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#gate = null;
    this.#storage.end(false);
    for (const fail of this.#underWay) fail(reason);
    this.#underWay.clear();
    this.#input.ended(this);
  }
}
