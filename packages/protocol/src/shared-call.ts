/** How long a call keeps what comes meanwhile waiting for the next one, in ms: a queue's object that is far away takes longer. */
export const COMPANY_MS_MAX = 10;
/**
 * How long who comes after a call that several shared waits for as many to come again, in ms. Requests that were answered
 * together send again together, or others do in their place. Measured with 50 senders: without this every second call has
 * one item, and all of it takes twice the CPU time, more than calls that are not shared.
 */
export const REGATHER_MS_MAX = 2;
/**
 * Share of those who were answered together that are waited for, beside those who wait already. Without the latter there are
 * two groups that take turns: twice the calls and commits.
 */
export const REGATHER_SHARE = 0.75;
/** Calls that may be under way to one queue at a time. */
export const CALLS_UNDER_WAY_MAX = 4;
/** How long an item waits while as many are under way, in ms. It goes out all the same then: their requests may be gone. */
export const PATIENCE_MS_MAX = 1_000;
/**
 * When a call under way counts as lost, in ms: the request that made it was ended by the platform before it was answered.
 * Nothing else takes a queue so long, as its object is always near to answering.
 */
export const CALL_LOST_MS = 30_000;

/** Keeps the request that calls it from being ended with its client, until the promise settles. */
export type KeepAlive = (promise: Promise<unknown>) => void;

/** Of a request that nothing ends before it is answered, such as one of a connection that carries many. */
export const LASTING: KeepAlive = () => {};

/**
 * How an item is carried, and when. Two things differ by who comes. Requests of a Worker that are answered together send again
 * one after the other: `regatherMs` lets them. Requests that come together, as those of a frame do, are only not all as far at
 * the same moment: `gather` waits for that.
 */
export interface SharedCallPorts<Item, Result> {
  /** Makes one call for several items: one result for each, in order. Runs on behalf of the request that it is given. */
  call(items: readonly Item[]): Promise<readonly Result[]>;
  weightOf(item: Item): number;
  /** Weight that one call takes along, or one item that has more. What waits goes out as soon as it has that much. */
  readonly weightMax: number;
  /** What a call waits for before it takes items along: what comes until then goes with it. Must not reject. Default: nothing. */
  gather?(): Promise<void>;
  /** How long who comes after a call that several shared waits for as many to come again, in ms. Default 0. */
  readonly regatherMs?: number;
  /** ms since any moment. */
  now(): number;
  /** Calls back after so many ms, on behalf of the request that asks. Returns what takes that back. */
  setTimer(ms: number, callback: () => void): () => void;
}

/** The request that made a shared call was ended before its answer came: whether it arrived is not known. */
export class SharedCallLostError extends Error {
  override readonly name: string = "SharedCallLostError";

  constructor() {
    super(`a call that others share was not answered within ${CALL_LOST_MS / 1_000} s`);
  }
}

/** A call under way. */
interface Call {
  readonly beganMs: number;
  /** Whether the request that makes it can be ended. */
  readonly canEnd: boolean;
}

/** What became of an item. */
type Fate<Result> =
  | { readonly kind: "waiting" }
  | { readonly kind: "taken"; readonly call: Call }
  | { readonly kind: "answered"; readonly result: Result }
  | { readonly kind: "failed"; readonly error: unknown };

const WAITING = { kind: "waiting" } as const;

interface Waiter<Item, Result> {
  readonly item: Item;
  readonly weight: number;
  /** Whether its request can be ended. */
  readonly canEnd: boolean;
  fate: Fate<Result>;
  /** Tells its request that its fate has changed, or that it may make a call. */
  wake: () => void;
}

/**
 * Lets requests of one isolate that come at the same moment share one call to a queue's object. Such a call costs workerd
 * more than all the rest of a small request. Who is alone does not wait for company: an item goes out at once unless a call is
 * under way that was begun just now, or, with `regatherMs`, one was answered just now that several shared.
 *
 * workerd ties what a request does to that request, so each call is made by one that waits: who comes, is woken up or loses
 * patience takes all along. Requests wake each other by resolving promises, whose continuations workerd runs where they belong
 * (compatibility flag `handle_cross_request_promise_resolution`, the default since 2024-10-14).
 *
 * No request depends on the living on of another one that can be ended. Each looks for itself now and then what became of its
 * item: a waking is lost when it comes from a request that was ended, and comes late to a Durable Object that blocks what
 * comes from outside. The timer also shows workerd that a request that does nothing but wait does not hang. `LASTING` ones
 * among themselves do without: measured with 50 senders of SQS, a timer for each is an eighth of all the CPU time.
 */
export class SharedCall<Item, Result> {
  readonly #ports: SharedCallPorts<Item, Result>;
  #waiting: Waiter<Item, Result>[] = [];
  #weightWaiting = 0;
  /** Those of them whose request can be ended. */
  #endableWaiting = 0;
  /** A few. */
  #underWay: Call[] = [];
  /** When a call was answered that several shared, and how many must wait for the next. */
  #sharedEndedMs = Number.NEGATIVE_INFINITY;
  #expected = 0;

  constructor(ports: SharedCallPorts<Item, Result>) {
    this.#ports = ports;
  }

  /** Whether nothing is under way, and nobody waits. */
  get isIdle(): boolean {
    return this.#underWay.length === 0 && this.#waiting.length === 0;
  }

  /**
   * Resolves with the result of this item; rejects when the call that it went along with failed, with
   * `SharedCallLostError` when that was lost. The item is never given to a second call.
   *
   * @param keepAlive of the request: what it has handed over here goes out even if its client hangs up.
   */
  run(item: Item, keepAlive: KeepAlive): Promise<Result> {
    const canEnd = keepAlive !== LASTING;
    const waiter = this.#add(item, canEnd);
    const sinceMs = this.#ports.now();
    // Most of them, and hardly any is woken for anything else than its answer. With 50 senders of SQS an async function for each was
    // a fourteenth of all the memory that their requests took.
    if (this.#isSureToBeWoken(waiter) && this.#readyInMs(sinceMs, 0) !== 0) {
      return this.#woken(waiter).then(() => {
        const { fate } = waiter;
        return fate.kind === "answered" ? fate.result : this.#lookAfter(waiter, sinceMs);
      });
    }
    const result = this.#lookAfter(waiter, sinceMs);
    if (canEnd) keepAlive(result.catch(() => {}));
    return result;
  }

  /** @param sinceMs when it came. */
  async #lookAfter(waiter: Waiter<Item, Result>, sinceMs: number): Promise<Result> {
    const { canEnd } = waiter;
    for (let lookMs = COMPANY_MS_MAX; ; ) {
      const { fate } = waiter;
      if (fate.kind === "answered") return fate.result;
      if (fate.kind === "failed") throw fate.error;
      const nowMs = this.#ports.now();
      if (fate.kind === "taken" && nowMs - fate.call.beganMs >= CALL_LOST_MS) {
        this.#forgetLost(nowMs);
        throw new SharedCallLostError();
      }
      const readyInMs = fate.kind === "waiting" ? this.#readyInMs(nowMs, nowMs - sinceMs) : null;
      if (readyInMs === 0) {
        await this.#call(canEnd);
      } else if (this.#isSureToBeWoken(waiter)) {
        await this.#woken(waiter);
      } else if (!(await this.#wokenWithin(waiter, readyInMs ?? lookMs)) && readyInMs === null) {
        lookMs = Math.min(2 * lookMs, PATIENCE_MS_MAX);
      }
    }
  }

  #add(item: Item, canEnd: boolean): Waiter<Item, Result> {
    const weight = this.#ports.weightOf(item);
    const waiter: Waiter<Item, Result> = { item, weight, canEnd, fate: WAITING, wake: () => {} };
    // From now on those that look for nothing must.
    if (canEnd) for (const other of this.#waiting) if (!other.canEnd) other.wake();
    this.#waiting.push(waiter);
    this.#weightWaiting += weight;
    if (canEnd) this.#endableWaiting += 1;
    return waiter;
  }

  /** Whether whoever is to wake it up lives on until then: a call is under way, and of all requests none can be ended. */
  #isSureToBeWoken({ canEnd }: Waiter<Item, Result>): boolean {
    if (canEnd || this.#endableWaiting > 0 || this.#underWay.length === 0) return false;
    for (const call of this.#underWay) if (call.canEnd) return false;
    return true;
  }

  /** When who has waited so long may make a call, in ms from now; `null` when one of those under way must end before. */
  #readyInMs(nowMs: number, waitedMs: number): number | null {
    this.#forgetLost(nowMs);
    let youngMs = Number.POSITIVE_INFINITY;
    for (const { beganMs } of this.#underWay) youngMs = Math.min(youngMs, nowMs - beganMs);
    if (this.#underWay.length >= CALLS_UNDER_WAY_MAX) return waitedMs >= PATIENCE_MS_MAX ? 0 : null;
    if (this.#weightWaiting >= this.#ports.weightMax) return 0;
    const { regatherMs = 0 } = this.#ports;
    const gatheringMs = this.#waiting.length < this.#expected ? nowMs - this.#sharedEndedMs : regatherMs;
    return Math.max(COMPANY_MS_MAX - youngMs, regatherMs - gatheringMs, 0);
  }

  #forgetLost(nowMs: number): void {
    const isLost = ({ beganMs }: Call) => nowMs - beganMs >= CALL_LOST_MS;
    if (this.#underWay.some(isLost)) this.#underWay = this.#underWay.filter((call) => !isLost(call));
  }

  /** Makes a call for those who wait first, and lets the next of them know. Never rejects. */
  async #call(canEnd: boolean): Promise<void> {
    const call: Call = { beganMs: this.#ports.now(), canEnd };
    this.#underWay.push(call);
    if (this.#ports.gather !== undefined) await this.#ports.gather();
    const waiters = this.#take();
    for (const waiter of waiters) waiter.fate = { kind: "taken", call };
    const fates = await this.#fatesOf(waiters);
    const at = this.#underWay.indexOf(call);
    // Not if it was lost, and is answered all the same.
    if (at !== -1) this.#underWay.splice(at, 1);
    if (waiters.length > 1) {
      this.#expected = this.#waiting.length + REGATHER_SHARE * waiters.length;
      this.#sharedEndedMs = this.#ports.now();
    }
    for (const [i, waiter] of waiters.entries()) {
      waiter.fate = fates[i] as Fate<Result>; // one for each
      waiter.wake();
    }
    this.#waiting[0]?.wake();
  }

  /** Makes the call: what it came to for each that goes along. Never rejects. */
  async #fatesOf(waiters: readonly Waiter<Item, Result>[]): Promise<Fate<Result>[]> {
    // While it gathered, who came to a full call may have taken all along.
    if (waiters.length === 0) return [];
    try {
      const results = await this.#ports.call(waiters.map(({ item }) => item));
      if (results.length !== waiters.length)
        throw new Error("a shared call was answered with too few results");
      return results.map((result) => ({ kind: "answered", result }));
    } catch (error) {
      return waiters.map(() => ({ kind: "failed", error }));
    }
  }

  /** The first that wait, as many as one call takes; at least one. */
  #take(): Waiter<Item, Result>[] {
    let weight = 0;
    const last = this.#waiting.findIndex((waiter) => {
      weight += waiter.weight;
      return weight > this.#ports.weightMax;
    });
    const taken = this.#waiting.splice(0, last === -1 ? this.#waiting.length : Math.max(1, last));
    for (const waiter of taken) {
      this.#weightWaiting -= waiter.weight;
      if (waiter.canEnd) this.#endableWaiting -= 1;
    }
    return taken;
  }

  /** Resolves when the waiter is woken up. */
  #woken(waiter: Waiter<Item, Result>): Promise<void> {
    return new Promise((resolve) => {
      waiter.wake = resolve;
    });
  }

  /**
   * Resolves when the waiter is woken up, with `true`, or after so many ms. By two promises: in an object that blocks what
   * comes from outside, the one that another request has resolved does not go on, and must not keep the timer's from it.
   */
  async #wokenWithin(waiter: Waiter<Item, Result>, ms: number): Promise<boolean> {
    const woken = Promise.withResolvers<true>();
    const late = Promise.withResolvers<false>();
    const stopTimer = this.#ports.setTimer(ms, () => late.resolve(false));
    waiter.wake = () => woken.resolve(true);
    const isWoken = await Promise.race([woken.promise, late.promise]);
    // Not in `wake`, which another request calls: a timer belongs to its request.
    stopTimer();
    return isWoken;
  }
}

/** `SharedCallPorts.setTimer` as it is in Workers and in Node.js. */
export function setTimer(ms: number, callback: () => void): () => void {
  const timer = setTimeout(callback, ms);
  return () => clearTimeout(timer);
}
