import { InstanceEndedError } from "../instance-ended.ts";
import { copyOf } from "./copy.ts";
import type { Storage } from "./storage.ts";

/** Durable Object, seen as its RPC methods by name. */
export type Methods = Record<string, (...args: readonly unknown[]) => unknown>;

/**
 * Optional method of an object: returns true when nothing in its memory matters, so that the instance may end and its
 * file be closed. An object without it lives until `close`, unless it is aborted or a commit fails.
 */
export const HOLDS_NOTHING = "holdsNothing";

/** Public members of `Storage`: with its private ones no simulated storage could have this type. */
export type InstanceStorage = Pick<Storage, keyof Storage>;

/** Part of `DurableObjectState` that the broker's classes use. */
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
  /** Opens the storage. @param lost called with the error when what was written since the last commit is lost. */
  open(lost: (error: unknown) => void): InstanceStorage;
  /** The time that alarms go by, in ms since 1970. */
  now(): number;
  /** Calls back soon, after whatever is under way. */
  later(callback: () => void): void;
  construct(state: ObjectState, instance: Instance): object;
  /** Called once when the instance has ended; the owner creates another for the next call. */
  ended(instance: Instance): void;
  logError(line: string): void;
}

type Resolve = (result: unknown) => void;
type Reject = (reason: unknown) => void;

/** A call that is under way. */
interface UnderWay {
  readonly reject: Reject;
  /** Index in `#underWay`. */
  at: number;
}

/** An object from its start on a file until it is aborted, or everything ends. */
export class Instance {
  readonly #input: InstanceInput;
  readonly #storage: InstanceStorage;
  readonly #object: Methods;
  /** Number of `blockConcurrencyWhile` under way. */
  #blocks = 0;
  /** Calls that wait for them, in order. */
  #blocked: (() => void)[] = [];
  /** An array, not a `Set`: V8 keeps deleted entries of a `Set` alive for a while. */
  #underWay: UnderWay[] = [];
  #over: { readonly reason: unknown } | null = null;
  /** Settles with the last ring; rings come one after the other. */
  #ringing: Promise<void> = Promise.resolve();

  /** @throws the reason if the constructor aborts, else its error; `SqliteError` for a file that is no database. */
  constructor(input: InstanceInput) {
    this.#input = input;
    this.#storage = input.open((error) => this.#end(error));
    try {
      this.#object = input.construct(this.#state(), this) as Methods;
    } catch (error) {
      this.#end(error);
      throw this.#reason; // that of an abort inside the constructor, if one came first
    }
    if (this.#over !== null) throw this.#reason;
  }

  get isOver(): boolean {
    return this.#over !== null;
  }

  /** Calls `then` when all writes are durable: at once if they are, never if the commit fails or the instance ended. */
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

  /** Runs `alarm()` if the alarm is due, after the ring before. Rejects if `alarm()` fails or the instance ends. */
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
        // Later: closing the file takes milliseconds, and the answer must not wait for it.
        if (this.#mayEnd) this.#input.later(() => this.#endIfItMay());
      },
      // A failed commit ends the instance, which rejects every call under way.
      () => undefined,
    );
  }

  /** Removes a call from `#underWay`: the last one takes its index. */
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

  #endIfItMay(): void {
    if (!this.#mayEnd) return;
    try {
      this.#storage.closeForLong();
    } catch (error) {
      this.#input.logError(`${this.#input.name ?? this.#input.id}: its file could not be closed: ${error}`);
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
    const method = name in Object.prototype ? undefined : this.#object[name]; // `toString` and the like are none
    if (typeof method !== "function") {
      throw new TypeError(`The RPC receiver does not implement the method "${name}".`);
    }
    return method;
  }

  #state(): ObjectState {
    const { id, name, logError } = this.#input;
    return {
      id: { name: name ?? undefined, toString: () => id },
      storage: this.#storage,
      blockConcurrencyWhile: (work) => this.#block(work),
      waitUntil: (work) => void work.catch((reason) => logError(`${name ?? id}: ${reason}`)),
      abort: (reason = "the object was aborted") => this.#end(new Error(reason)),
    };
  }

  #block<Result>(work: () => Promise<Result>): Promise<Result> {
    this.#blocks += 1;
    const done = new Promise<Result>((resolve) => resolve(work())); // what `work` throws at once rejects too
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
      // One of them may have called `blockConcurrencyWhile`: the rest waits again.
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
