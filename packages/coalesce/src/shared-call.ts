/**
 * How long a call that was just begun holds up the next requests, in ms. A queue's object that is far away takes
 * longer.
 */
export const COALESCE_MS_MAX = 10;
/**
 * How long an item lingers after a call that several shared, in ms. Requests that were answered together send again
 * together. Measured with 50 senders: without it every second call has one item, and the senders take twice the CPU
 * time, more than with calls that are not shared.
 */
export const LINGER_MS = 2;
/**
 * An item lingers until this share of the requests that were answered together is back, beside those that waited
 * already. Without the latter two groups take turns: twice the calls and commits.
 */
export const LINGER_SHARE = 0.75;
/** Calls that may be under way to one queue at a time. */
export const CALLS_UNDER_WAY_MAX = 4;
/**
 * How long an item waits while `CALLS_UNDER_WAY_MAX` calls are under way, in ms. Then it goes out anyway: their
 * requests may be gone.
 */
export const WAIT_MS_MAX = 1_000;
/**
 * Age at which a call under way counts as lost, in ms: the platform has ended its request before the answer. A queue's
 * object answers sooner in all other cases.
 */
export const CALL_LOST_MS = 30_000;
/**
 * How far the clock of one request may be behind that of another, in ms: workerd lets it stand while code runs. A clock
 * that is further behind was set back.
 */
export const CLOCK_BEHIND_MS_MAX = 1_000;

/** Keeps the request that calls it from being ended with its client, until the promise settles. */
export type KeepAlive = (promise: Promise<unknown>) => void;

/**
 * Call that a `SharedCall` makes, the weight that one call carries, the time that items linger for more, and the clock.
 */
export interface SharedCallPorts<Item, Result> {
  /**
   * Makes one call for several items: one result for each, in order. Runs on behalf of the request that it is given.
   */
  call(items: readonly Item[]): Promise<readonly Result[]>;
  weightOf(item: Item): number;
  /** Most weight of one call; a single item may have more. Waiting items go out as soon as they weigh that much. */
  readonly weightMax: number;
  /**
   * How long an item lingers after a call that several shared, in ms: for requests that send again one after the other
   * when they were answered together, as those of a Worker do. Default 0.
   */
  readonly lingerMs?: number;
  /** ms since any moment. It may be set back. */
  now(): number;
  /** Calls back after so many ms, on behalf of the request that asks. Returns a function that cancels it. */
  setTimer(ms: number, callback: () => void): () => void;
}

/**
 * Error for an item whose shared call was lost: the request that made it was ended before the answer, so it is unknown
 * whether the call arrived.
 */
export class SharedCallLostError extends Error {
  override readonly name: string = "SharedCallLostError";

  constructor() {
    super(`a call that others share was not answered within ${CALL_LOST_MS / 1_000} s`);
  }
}

/** A call under way. */
interface Call {
  readonly beganMs: number;
}

/**
 * State of an item.
 *
 * - `waiting`: no call carries it. In: `run`. Out: the next call that has room for it, whichever request makes it
 *   (`taken`).
 * - `taken`: a call carries it. In: `#call`. Out: that call ends (`answered`, `failed`). If that call counts as lost,
 *   the item's request rejects with `SharedCallLostError` and looks at the item no more.
 * - `answered`, `failed`: its call has ended. In: `#call`. Out: nothing; its request resolves or rejects.
 */
type ItemState<Result> =
  | { readonly kind: "waiting" }
  | { readonly kind: "taken"; readonly call: Call }
  | { readonly kind: "answered"; readonly result: Result }
  | { readonly kind: "failed"; readonly error: unknown };

const WAITING = { kind: "waiting" } as const;

interface Waiter<Item, Result> {
  readonly item: Item;
  readonly weight: number;
  state: ItemState<Result>;
  /** Wakes its request: the state has changed, or the request may make a call. */
  wake: () => void;
}

/**
 * Lets requests of one isolate that come at the same moment share one call to a Durable Object. Such a call costs
 * workerd more than all the rest of a small request.
 *
 * **When a call goes out.** A request that waits makes it, for all that wait and fit:
 *
 * - at once, unless the youngest call under way began less than `COALESCE_MS_MAX` ago: an item that comes alone never
 *   waits;
 * - at once, when the waiting items weigh `weightMax`;
 * - with `lingerMs`, after a call that several shared: when `LINGER_SHARE` of them are back, or `lingerMs` has passed;
 * - while `CALLS_UNDER_WAY_MAX` calls are under way: when one of them ends, or after `WAIT_MS_MAX`.
 *
 * **On whose behalf.** workerd ties what a request does to that request, so only a request whose own item waits makes a
 * call. Requests wake each other by resolving promises, whose continuations workerd runs where they belong
 * (compatibility flag `handle_cross_request_promise_resolution`, the default since 2024-10-14).
 *
 * **When a request ends early.** No request depends on another one that can be ended. Each looks at its own item now
 * and then: a wake-up from a request that was ended is lost, and one to a Durable Object that blocks events from
 * outside is late. The timer also shows workerd that a request that only waits does not hang.
 */
export class SharedCall<Item, Result> {
  readonly #ports: SharedCallPorts<Item, Result>;
  #waiting: Waiter<Item, Result>[] = [];
  #weightWaiting = 0;
  #underWay: Call[] = [];
  /** When the last call that several shared was answered, and the number of items that ends the lingering after it. */
  #sharedEndedMs = Number.NEGATIVE_INFINITY;
  #expected = 0;
  /** The latest moment that was read, and by how much the clock was set back in all. */
  #latestMs = Number.NEGATIVE_INFINITY;
  #setBackMs = 0;

  constructor(ports: SharedCallPorts<Item, Result>) {
    this.#ports = ports;
  }

  /** Whether no call is under way, and no item waits. */
  get isIdle(): boolean {
    return this.#underWay.length === 0 && this.#waiting.length === 0;
  }

  /**
   * Resolves with the result of this item. Rejects when the call that carried it failed, and with `SharedCallLostError`
   * when that call was lost. No item is carried twice.
   *
   * @param keepAlive that of the request: its item goes out even if its client disconnects.
   */
  run(item: Item, keepAlive: KeepAlive): Promise<Result> {
    const result = this.#lookAfter(this.#add(item));
    keepAlive(result.catch(() => {}));
    return result;
  }

  /** Reads the clock without letting it go back: items would wait for as long as it was set back. */
  #nowMs(): number {
    const nowMs = this.#ports.now() + this.#setBackMs;
    if (nowMs < this.#latestMs - CLOCK_BEHIND_MS_MAX) this.#setBackMs += this.#latestMs - nowMs;
    else this.#latestMs = Math.max(this.#latestMs, nowMs);
    return this.#latestMs;
  }

  /** Waits for the end of the item, and makes calls that are due. */
  async #lookAfter(waiter: Waiter<Item, Result>): Promise<Result> {
    const sinceMs = this.#nowMs();
    for (let lookMs = COALESCE_MS_MAX; ; ) {
      const { state } = waiter;
      if (state.kind === "answered") return state.result;
      if (state.kind === "failed") throw state.error;
      const nowMs = this.#nowMs();
      if (state.kind === "taken" && nowMs - state.call.beganMs >= CALL_LOST_MS) {
        this.#forgetLost(nowMs);
        throw new SharedCallLostError();
      }
      const readyInMs = state.kind === "waiting" ? this.#readyInMs(nowMs, nowMs - sinceMs) : null;
      if (readyInMs === 0) {
        await this.#call();
      } else if (!(await this.#wokenWithin(waiter, readyInMs ?? lookMs)) && readyInMs === null) {
        lookMs = Math.min(2 * lookMs, WAIT_MS_MAX);
      }
    }
  }

  #add(item: Item): Waiter<Item, Result> {
    const weight = this.#ports.weightOf(item);
    const waiter: Waiter<Item, Result> = { item, weight, state: WAITING, wake: () => {} };
    this.#waiting.push(waiter);
    this.#weightWaiting += weight;
    return waiter;
  }

  /**
   * Time until a request that has waited for `waitedMs` may make a call, in ms; `null` when a call under way must end
   * before.
   */
  #readyInMs(nowMs: number, waitedMs: number): number | null {
    this.#forgetLost(nowMs);
    let youngMs = Number.POSITIVE_INFINITY;
    for (const { beganMs } of this.#underWay) youngMs = Math.min(youngMs, nowMs - beganMs);
    if (this.#underWay.length >= CALLS_UNDER_WAY_MAX) return waitedMs >= WAIT_MS_MAX ? 0 : null;
    if (this.#weightWaiting >= this.#ports.weightMax) return 0;
    const { lingerMs = 0 } = this.#ports;
    const lingeredMs = this.#waiting.length < this.#expected ? nowMs - this.#sharedEndedMs : lingerMs;
    return Math.max(COALESCE_MS_MAX - youngMs, lingerMs - lingeredMs, 0);
  }

  #forgetLost(nowMs: number): void {
    const isLost = ({ beganMs }: Call) => nowMs - beganMs >= CALL_LOST_MS;
    if (this.#underWay.some(isLost)) this.#underWay = this.#underWay.filter((call) => !isLost(call));
  }

  /** Makes a call for the first items that wait, and wakes the next of them. Never rejects. */
  async #call(): Promise<void> {
    const call: Call = { beganMs: this.#nowMs() };
    this.#underWay.push(call);
    const waiters = this.#take();
    for (const waiter of waiters) waiter.state = { kind: "taken", call };
    const states = await this.#statesAfter(waiters);
    const at = this.#underWay.indexOf(call);
    // A call that counted as lost, and is answered only now, was taken out before.
    if (at !== -1) this.#underWay.splice(at, 1);
    if (waiters.length > 1) {
      this.#expected = this.#waiting.length + LINGER_SHARE * waiters.length;
      this.#sharedEndedMs = this.#nowMs();
    }
    for (const [i, waiter] of waiters.entries()) {
      waiter.state = states[i] as ItemState<Result>; // one for each
      waiter.wake();
    }
    this.#waiting[0]?.wake();
  }

  /** Carries the items, and returns the state of each. Never rejects. */
  async #statesAfter(waiters: readonly Waiter<Item, Result>[]): Promise<ItemState<Result>[]> {
    try {
      const results = await this.#ports.call(waiters.map(({ item }) => item));
      if (results.length !== waiters.length)
        throw new Error("a shared call was answered with too few results");
      return results.map((result) => ({ kind: "answered", result }));
    } catch (error) {
      return waiters.map(() => ({ kind: "failed", error }));
    }
  }

  /** Takes the first items that wait, as many as one call carries; at least one. */
  #take(): Waiter<Item, Result>[] {
    let weight = 0;
    const last = this.#waiting.findIndex((waiter) => {
      weight += waiter.weight;
      return weight > this.#ports.weightMax;
    });
    const taken = this.#waiting.splice(0, last === -1 ? this.#waiting.length : Math.max(1, last));
    for (const waiter of taken) this.#weightWaiting -= waiter.weight;
    return taken;
  }

  /**
   * Resolves with `true` when the waiter is woken up, or with `false` after so many ms. It takes two promises: in an
   * object that blocks events from outside, one that another request has resolved does not go on, and must not hold up
   * the timer's.
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
