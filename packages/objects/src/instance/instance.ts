import { InstanceEndedError } from "../instance-ended.ts";
import { copyOf } from "./copy.ts";
import type { Storage } from "./storage.ts";

/** An object of a class, by its methods. */
export type Methods = Record<string, (...args: readonly unknown[]) => unknown>;

/**
 * Method by which an object says that it has nothing in memory that matters, so that its instance may end and its
 * file be closed. Who has none stays until the end.
 */
export const HOLDS_NOTHING = "holdsNothing";

/** Storage of an instance, as that uses it: what its object has of it, and when it is durable. */
export type InstanceStorage = Pick<Storage, keyof Storage>;

/** State that a Durable Object class is constructed with: as much of `DurableObjectState` as the broker's use. */
export interface ObjectState {
  readonly id: { readonly name: string | undefined; toString(): string };
  readonly storage: InstanceStorage;
  /** Lets calls wait until `work` is done. If it fails, so does this instance. */
  blockConcurrencyWhile<Result>(work: () => Promise<Result>): Promise<Result>;
  waitUntil(work: Promise<unknown>): void;
  /**
   * Ends this instance: what is not committed is lost, and calls that are under way fail with the reason. The platform
   * stops the code that called it; here it goes on, and changes nothing.
   */
  abort(reason?: string): void;
}

export interface InstanceInput {
  readonly id: string;
  readonly name: string | null;
  /** Opens its storage. @param lost takes the error of a commit that failed: nothing of what was written is kept. */
  open(lost: (error: unknown) => void): InstanceStorage;
  /** The time that alarms go by, in ms since 1970. */
  now(): number;
  /** Calls back soon, after whatever is under way. */
  later(callback: () => void): void;
  construct(state: ObjectState, instance: Instance): object;
  /** It is over: the next call begins another. */
  ended(instance: Instance): void;
  error(line: string): void;
}

type Resolve = (result: unknown) => void;
type Reject = (reason: unknown) => void;

/** A call that is under way. */
interface UnderWay {
  readonly reject: Reject;
  /** Where it is among the others. */
  at: number;
}

/** An object from its start on a file until it is aborted, or everything ends. */
export class Instance {
  readonly #input: InstanceInput;
  readonly #storage: InstanceStorage;
  readonly #object: Methods;
  /** How much there is that calls wait for, and the calls, in order. */
  #blocks = 0;
  #blocked: (() => void)[] = [];
  /** No `Set`: V8 would keep what has been in it for long. */
  #underWay: UnderWay[] = [];
  #over: { readonly reason: unknown } | null = null;
  #ringing: Promise<void> = Promise.resolve();

  /** Throws what the constructor throws, the reason if it aborts, and `SqliteError` for a file that is no database. */
  constructor(input: InstanceInput) {
    this.#input = input;
    this.#storage = input.open((error) => this.#end(error));
    try {
      this.#object = input.construct(this.#state(), this) as Methods;
    } catch (error) {
      this.#end(error);
      throw this.#reason;
    }
    if (this.#over !== null) throw this.#reason;
  }

  get isOver(): boolean {
    return this.#over !== null;
  }

  /** Calls `then` when everything written is durable, at once if it is; never if it will not be, or after its end. */
  whenDurable(then: () => void): void {
    this.#storage.whenDurable(then, () => undefined);
  }

  /**
   * Calls a method. Resolves, or rejects with what it throws, when everything that the answer can depend on is durable.
   *
   * @param args they become the object's own: nobody else may change them.
   */
  call(method: string, args: readonly unknown[], resolve: Resolve, reject: Reject): void {
    this.#enter(() => this.#methodOf(method).apply(this.#object, args as unknown[]), resolve, reject);
  }

  /** Rings the alarm if it is due, after the one before. Rejects if it was not heard. */
  ring(): Promise<void> {
    const rung = this.#ringing.then(
      () =>
        new Promise<void>((resolve, reject) =>
          this.#enter(
            () => this.#ring(),
            () => resolve(),
            reject,
          ),
        ),
    );
    this.#ringing = rung.catch(() => undefined);
    return rung;
  }

  /** Commits what is written, and ends. */
  close(): void {
    if (this.#over !== null) return;
    this.#storage.close();
    this.#end(new InstanceEndedError("the broker is stopping"));
  }

  get #reason(): unknown {
    return this.#over === null ? undefined : this.#over.reason;
  }

  #enter(work: () => unknown, resolve: Resolve, reject: Reject): void {
    if (this.#over !== null) {
      reject(this.#over.reason);
      return;
    }
    const call = { reject, at: this.#underWay.length };
    this.#underWay.push(call);
    if (this.#blocks > 0) this.#blocked.push(() => void this.#perform(work, resolve, call));
    else void this.#perform(work, resolve, call);
  }

  async #perform(work: () => unknown, resolve: Resolve, call: UnderWay): Promise<void> {
    let answer: () => void;
    try {
      const result = copyOf(await work());
      answer = () => resolve(result);
    } catch (error) {
      answer = () => call.reject(error);
    }
    this.#storage.whenDurable(
      () => {
        this.#leave(call);
        answer();
        if (this.#mayEnd) this.#input.later(() => this.#endIfItMay());
      },
      // All that are under way fail with it.
      () => undefined,
    );
  }

  /** The last one takes its place. */
  #leave({ at }: UnderWay): void {
    const last = this.#underWay.pop();
    if (last === undefined || last.at === at) return;
    this.#underWay[at] = last;
    last.at = at;
  }

  /** Whether nobody waits for the object, and it holds nothing. */
  get #mayEnd(): boolean {
    if (this.#underWay.length > 0 || this.#blocks > 0 || this.#over !== null) return false;
    return this.#object[HOLDS_NOTHING]?.() === true;
  }

  /** Not as part of the answer: to close a file takes some milliseconds. */
  #endIfItMay(): void {
    if (!this.#mayEnd) return;
    try {
      this.#storage.closeForLong();
    } catch (error) {
      this.#input.error(`${this.#input.name ?? this.#input.id}: its file could not be closed: ${error}`);
    }
    this.#end(new InstanceEndedError("the object held nothing, and was ended"));
  }

  async #ring(): Promise<void> {
    if (!this.#storage.beginRing(this.#input.now())) return;
    try {
      await this.#object.alarm?.();
    } catch (error) {
      this.#storage.failRing();
      throw error;
    }
    this.#storage.endRing();
  }

  #methodOf(name: string): (...args: unknown[]) => unknown {
    const method = name in Object.prototype ? undefined : this.#object[name];
    if (typeof method !== "function") {
      throw new TypeError(`The RPC receiver does not implement the method "${name}".`);
    }
    return method;
  }

  #state(): ObjectState {
    const { id, name, error } = this.#input;
    return {
      id: { name: name ?? undefined, toString: () => id },
      storage: this.#storage,
      blockConcurrencyWhile: (work) => this.#block(work),
      waitUntil: (work) => void work.catch((reason) => error(`${name ?? id}: ${reason}`)),
      abort: (reason = "the object was aborted") => this.#end(new Error(reason)),
    };
  }

  #block<Result>(work: () => Promise<Result>): Promise<Result> {
    this.#blocks += 1;
    const done = new Promise<Result>((resolve) => resolve(work()));
    done.then(
      () => this.#unblock(),
      (error) => this.#end(error),
    );
    return done;
  }

  #unblock(): void {
    this.#blocks -= 1;
    if (this.#blocks > 0) return;
    const blocked = this.#blocked;
    this.#blocked = [];
    for (const [at, perform] of blocked.entries()) {
      if (this.#over !== null) return;
      // One of them may have closed the gate again, for those behind it.
      if (this.#blocks > 0) {
        this.#blocked.unshift(...blocked.slice(at));
        return;
      }
      perform();
    }
  }

  #end(reason: unknown): void {
    if (this.#over !== null) return;
    this.#over = { reason };
    this.#blocked = [];
    this.#storage.end();
    const underWay = this.#underWay;
    this.#underWay = [];
    for (const { reject } of underWay) reject(reason);
    this.#input.ended(this);
  }
}
