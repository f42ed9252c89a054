import { InstanceEndedError } from "../instance-ended.ts";
import { copyOf } from "./copy.ts";
import type { Storage } from "./storage.ts";

/** RPC methods of a Durable Object, by name. */
export type Methods = Record<string, (...args: readonly unknown[]) => unknown>;

/**
 * Name of an optional method of an object. It returns `true` when nothing in its memory matters, so that the instance
 * may end and its file be closed. An object without it lives until `close`, unless it is aborted or a commit fails.
 */
export const HOLDS_NOTHING = "holdsNothing";

/** Public members of `Storage`. A simulated storage could not have the type of a class with private ones. */
export type InstanceStorage = Pick<Storage, keyof Storage>;

/** Part of `DurableObjectState` that the broker's classes use. */
export interface ObjectState {
  readonly id: { readonly name: string | undefined; toString(): string };
  readonly storage: InstanceStorage;
  /** Makes calls wait until `work` is done. If `work` fails, the instance ends. */
  blockConcurrencyWhile<Result>(work: () => Promise<Result>): Promise<Result>;
  waitUntil(work: Promise<unknown>): void;
  /**
   * Ends this instance: uncommitted writes are lost, and calls under way fail with the reason. On the platform the
   * calling code stops; here it goes on, but cannot change anything.
   */
  abort(reason?: string): void;
}

export interface InstanceInput {
  readonly id: string;
  readonly name: string | null;
  /** Opens the storage. @param lost called with the error when the writes since the last commit are lost. */
  open(lost: (error: unknown) => void): InstanceStorage;
  /** Returns the time by which alarms ring, in ms since 1970. */
  now(): number;
  /** Calls back soon, after the code that runs. */
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

/** Running instance of an object: from its start on a file until it is aborted, holds nothing, or all objects end. */
export class Instance {
  readonly #input: InstanceInput;
  readonly #storage: InstanceStorage;
  readonly #object: Methods;
  /** Number of `blockConcurrencyWhile` under way. */
  #blocks = 0;
  /** Calls that wait until `#blocks` is 0, in order. */
  #blocked: (() => void)[] = [];
  /** An array, not a `Set`: V8 keeps deleted entries of a `Set` alive for a while. */
  #underWay: UnderWay[] = [];
  #over: { readonly reason: unknown } | null = null;
  /** Resolves after the last ring: rings run one after the other. */
  #ringing: Promise<void> = Promise.resolve();

  /** @throws the reason of `abort` in the constructor, else its error; SqliteError for a file that is no database. */
  constructor(input: InstanceInput) {
    this.#input = input;
    this.#storage = input.open((error) => this.#end(error));
    try {
      this.#object = input.construct(this.#state(), this) as Methods;
    } catch (error) {
      this.#end(error);
      throw this.#reason; // an earlier `abort` in the constructor has set another reason
    }
    if (this.#over !== null) throw this.#reason;
  }

  get isOver(): boolean {
    return this.#over !== null;
  }

  /** Calls `then` when all writes are durable: at once if they are; never if the commit fails or the instance ends. */
  whenDurable(then: () => void): void {
    this.#storage.whenDurable(then, () => undefined);
  }

  /**
   * Calls a method. Calls `resolve`, or `reject` with its error, when all writes that the answer can depend on are
   * durable.
   *
   * @param args arguments, which the caller must not use any more.
   */
  call(method: string, args: readonly unknown[], resolve: Resolve, reject: Reject): void {
    this.#enter(() => this.#methodOf(method).apply(this.#object, args as unknown[]), resolve, reject);
  }

  /** Runs `alarm()` if the alarm is due, after earlier rings. Rejects if `alarm()` fails or the instance ends. */
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

  /** Commits all writes, and ends. */
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
        if (this.#canEnd) this.#input.later(() => this.#endIfPossible());
      },
      // A failed commit ends the instance, which rejects every call under way.
      () => undefined,
    );
  }

  /** Removes a call from `#underWay`. The last call takes its index. */
  #leave({ at }: UnderWay): void {
    const last = this.#underWay.pop();
    if (last === undefined || last.at === at) return;
    this.#underWay[at] = last;
    last.at = at;
  }

  /** Whether no call is under way, and the object holds nothing. */
  get #canEnd(): boolean {
    if (this.#underWay.length > 0 || this.#blocks > 0 || this.#over !== null) return false;
    return this.#object[HOLDS_NOTHING]?.() === true;
  }

  #endIfPossible(): void {
    if (!this.#canEnd) return;
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
    // `toString` and the like are no RPC methods.
    const method = name in Object.prototype ? undefined : this.#object[name];
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
    const done = new Promise<Result>((resolve) => resolve(work())); // rejects also if `work` throws synchronously
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
      // A call may have called `blockConcurrencyWhile`: the rest waits again.
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
