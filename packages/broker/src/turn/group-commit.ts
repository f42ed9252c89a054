import type { AwakeTime } from "../usage/awake-time.ts";

/** How long deferred work lingers for a commit to share, in ms, unless the timer already runs for work before it. */
export const LINGER_MS = 5;
/** Longest that it lingers, in ms. */
export const LINGER_MS_MAX = 2 * LINGER_MS;
/**
 * The same where each row is billed, in ms. Who sends one message after the other does so every 10 to 50 ms there, and
 * a settlement that goes along with the next send is a row less: 1.00 USD per million messages, against 0.16 for as
 * many times the linger awake.
 */
export const LINGER_DEPLOYED_MS = 100;

/**
 * How soon work gets a turn.
 *
 * - `now`: somebody waits for it. It starts a turn at once, or has the next one if a commit is in flight.
 * - `deferred`: nobody waits for it. It runs first in the next turn that other work starts, and in a turn of its own
 *   after `lingerMs`. A commit is a sync of the disk, which holds up everything in the process.
 */
export type Urgency = "now" | "deferred";

/** Work on the queue that is answered when it is durable. */
interface Job {
  run(): void;
  resolve(): void;
  reject(reason: unknown): void;
}

export interface GroupCommitPorts {
  /**
   * Runs the jobs it is given and commits what they changed, synchronously. May throw: then nothing was committed and
   * every job of the turn fails.
   */
  turn(jobs: () => void): void;
  /** Resolves when everything committed is durable. */
  synced(): Promise<void>;
  /** The commit of the turn is durable: called before its jobs resolve. */
  durable(): void;
  /** A turn failed, or its commit did not become durable: what is in memory is not what is stored. */
  broken(error: unknown): void;
  /** Whether somebody waits until nothing is under way: then deferred work is run at once. Default: nobody does. */
  isHurried?(): boolean;
  /** How long deferred work lingers, in ms. Default `LINGER_MS`. */
  readonly lingerMs?: number | undefined;
  /** Told when a commit begins to be under way, and when none is any more. */
  readonly awake?: Pick<AwakeTime, "begin" | "end"> | undefined;
  /** Calls back after a time, if this epoch lasts so long. Default: never, and deferred work is run at once. */
  readonly after?: ((callback: () => void, ms: number) => void) | undefined;
}

/**
 * - `idle`: no commit is in flight, and nothing waits but deferred work. `submit` of urgent work leaves it, and the end
 *   of the linger.
 * - `committing`: a turn has run and its commit is not durable yet. Work that arrives waits. Once it is durable, the
 *   next turn runs what has come meanwhile; if nothing has, the state is `idle` again.
 * - `ended`: a turn failed, or `end` was called. Nothing leaves it: what waits, and what comes, is rejected with
 *   `error`.
 */
type State =
  | { readonly kind: "idle" }
  | { readonly kind: "committing" }
  | { readonly kind: "ended"; readonly error: unknown };

/**
 * One commit for everything that arrives while the previous one is in flight. workerd commits per request and does not
 * group across requests: measured, 2,400 commits a second against 13,000 durable sends a second when concurrent ones
 * share a commit.
 */
export class GroupCommit {
  readonly #ports: GroupCommitPorts;
  #state: State = { kind: "idle" };
  /** Jobs that the next turn runs. */
  #waiting: Job[] = [];
  /** Jobs that linger. The next turn runs them too, before the rest. */
  #deferred: Job[] = [];
  /** The first job that the timer was set for; `null` while none runs. */
  #timed: Job | null = null;

  constructor(ports: GroupCommitPorts) {
    this.#ports = ports;
  }

  /** Runs `work` in a turn. Resolves with its result once that is durable; rejects with what it threw. */
  submit<Result>(work: () => Result, urgency: Urgency = "now"): Promise<Result> {
    return new Promise<Result>((resolve, reject) => {
      if (this.#state.kind === "ended") {
        reject(this.#state.error);
        return;
      }
      const job = jobOf(work, resolve, reject);
      if (urgency === "deferred" && this.#ports.after !== undefined && this.#ports.isHurried?.() !== true) {
        this.#deferred.push(job);
        this.#setTimer(this.#ports.after);
        return;
      }
      this.#waiting.push(job);
      if (this.#state.kind === "idle") void this.#commit();
    });
  }

  /** Whether there is work that lingers. */
  get hasDeferred(): boolean {
    return this.#deferred.length > 0;
  }

  /** Runs nothing any more: what waits, and what comes, is rejected with `error`. A commit in flight still counts. */
  end(error: unknown): void {
    this.#state = { kind: "ended", error };
    for (const job of this.#takeJobs()) job.reject(error);
  }

  /** One timer for all: work that comes while it runs, and is still there when it rings, gets one of its own. */
  #setTimer(after: NonNullable<GroupCommitPorts["after"]>): void {
    const [first] = this.#deferred;
    if (first === undefined || this.#timed !== null) return;
    this.#timed = first;
    after(() => {
      this.#timed = null;
      if (this.#deferred[0] !== first) this.#setTimer(after);
      // Starts a turn, which takes along what is deferred. One that fails has said so to those who wait.
      else this.submit(() => {}).catch(() => {});
    }, this.#ports.lingerMs ?? LINGER_MS);
  }

  #takeJobs(): Job[] {
    const jobs = this.#deferred.length === 0 ? this.#waiting : [...this.#deferred, ...this.#waiting];
    this.#waiting = [];
    this.#deferred = [];
    return jobs;
  }

  /** Runs turns as long as work waits. */
  async #commit(): Promise<void> {
    this.#state = { kind: "committing" };
    this.#ports.awake?.begin();
    while (this.#waiting.length > 0) {
      const jobs = this.#takeJobs();
      try {
        this.#ports.turn(() => {
          for (const job of jobs) job.run();
        });
        await this.#ports.synced();
        this.#ports.durable();
        for (const job of jobs) job.resolve();
      } catch (error) {
        for (const job of jobs) job.reject(error);
        this.end(error);
        this.#ports.broken(error);
      }
    }
    if (this.#state.kind === "committing") this.#state = { kind: "idle" };
    this.#ports.awake?.end();
  }
}

function jobOf<Result>(
  work: () => Result,
  resolve: (result: Result) => void,
  reject: (reason: unknown) => void,
): Job {
  let outcome: { result: Result } | { thrown: unknown } | undefined;
  return {
    run: () => {
      try {
        outcome = { result: work() };
      } catch (thrown) {
        outcome = { thrown };
      }
    },
    resolve: () => {
      if (outcome === undefined) reject(new Error("the work was never run"));
      else if ("result" in outcome) resolve(outcome.result);
      else reject(outcome.thrown);
    },
    reject,
  };
}
