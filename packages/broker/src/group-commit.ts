import { LoneTurns } from "./lone-turns.ts";

/** How long work that can wait is kept for a turn to share, in ms, if the timer is not running for work before it. */
export const COMPANY_WAIT_MS = 5;
/** Longest that it is kept, in ms. */
export const COMPANY_WAIT_MS_MAX = 2 * COMPANY_WAIT_MS;

/** When a turn begins so long after one with whose answer messages left, in ms, it waits until they have: the clock has jumped. */
export const LEAVING_MS_MAX = 1_000;

/** How long the leases last of the messages that leave with a turn: `long` ones outlast any sync unless the clock jumps. */
export type LeavingLeases = "none" | "brief" | "long";

/** Work on the queue that is answered when it is durable. */
interface Job {
  /** Whether its answer leaves through the platform's output gate, so that it may be given before the commit is durable. */
  readonly isGated: boolean;
  run(): void;
  resolve(): void;
  reject(reason: unknown): void;
}

export interface GroupCommitPorts {
  /**
   * Runs the jobs it is given and commits what they changed, synchronously. May throw: then nothing was committed and
   * every job of the turn fails.
   *
   * @returns the leases of messages that are on their way to somebody. They must not end before the messages have left, and
   *   could in the next turn: with brief ones the turn waits for its sync.
   */
  turn(jobs: () => void): LeavingLeases;
  /** Resolves when everything committed is durable. */
  synced(): Promise<void>;
  /** What the turn before has committed is durable: told before its jobs are, and of those that waited for it. */
  durable(): void;
  nowMs(): number;
  /** A turn failed, or its commit did not become durable: what is in memory is not what is stored. */
  broken(error: unknown): void;
  /** Calls back after a time, if this life lasts so long. Without it nothing waits for company. */
  readonly after?: ((callback: () => void, ms: number) => void) | undefined;
  /** Whether the platform holds every answer back until everything committed is durable. Default false. */
  readonly hasOutputGate?: boolean | undefined;
}

/**
 * One commit for everything that arrives while the previous one is in flight. workerd commits per request and does not
 * group across requests: measured, 2,400 commits a second against 13,000 durable sends a second when concurrent ones
 * share a commit. Work that somebody waits for does not wait for company: if it finds no commit in flight it starts one at
 * once. Work that nobody waits for may (`submitForCompany`).
 */
export class GroupCommit {
  readonly #ports: GroupCommitPorts;
  #waiting: Job[] = [];
  /** What waits for a turn that something else makes. */
  #forCompany: Job[] = [];
  /** The first job that the timer which runs was set for; `null` while none runs. */
  #timed: Job | null = null;
  /** Whether the time of what waits for company is over. */
  #isLate = false;
  #running = false;
  #gathering = false;
  /** When the latest turn was whose messages may not have left, in ms; `null` if all have. */
  #leavingSinceMs: number | null = null;
  /** Set once a turn has failed: nothing is run any more. */
  #failure: { readonly error: unknown } | null = null;
  /** Tells which turns need not wait for their sync; `null` where all of them do. */
  readonly #loneTurns: LoneTurns | null;

  constructor(ports: GroupCommitPorts) {
    this.#ports = ports;
    const { after, hasOutputGate } = ports;
    const failed = (error: unknown) => this.#fail(error, []);
    this.#loneTurns =
      hasOutputGate === true && after !== undefined ? new LoneTurns({ ...ports, after, failed }) : null;
  }

  /** Runs `work` in the next turn. Resolves with its result once that is durable; rejects with what it threw. */
  submit<Result>(work: () => Result): Promise<Result> {
    return this.#submit(work, false, (job) => this.#waiting.push(job));
  }

  /**
   * The same for work of which nothing but the answer to a call depends on that promise. It can resolve before the commit
   * is durable: the output gate holds the answer back until then.
   */
  submitGated<Result>(work: () => Result): Promise<Result> {
    return this.#submit(work, true, (job) => this.#waiting.push(job));
  }

  /**
   * The same for work that can wait a little and that nobody waits for: it runs first in the next turn that something else
   * makes, and in one of its own when none has come in `COMPANY_WAIT_MS_MAX`. A commit is a sync of the disk, which stops
   * everything in the process.
   */
  submitForCompany<Result>(work: () => Result): Promise<Result> {
    if (this.#ports.after === undefined) return this.submit(work);
    return this.#submit(work, true, (job) => {
      this.#forCompany.push(job);
      this.#setTimer();
    });
  }

  /** Whether there is work that waits for company. */
  get hasPatientWork(): boolean {
    return this.#forCompany.length > 0;
  }

  #submit<Result>(work: () => Result, isGated: boolean, add: (job: Job) => void): Promise<Result> {
    return new Promise<Result>((resolve, reject) => {
      if (this.#failure !== null) {
        reject(this.#failure.error);
        return;
      }
      let outcome: { result: Result } | { thrown: unknown } | undefined;
      add({
        isGated,
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
      });
      this.#start();
    });
  }

  /** Runs `begin`, at once; whatever it submits shares a turn. */
  together<Result>(begin: () => Result): Result {
    this.#gathering = true;
    try {
      return begin();
    } finally {
      this.#gathering = false;
      this.#start();
    }
  }

  /** One timer for all: work that comes while it runs and is still there when it rings gets one of its own. */
  #setTimer(): void {
    const [first] = this.#forCompany;
    if (first === undefined || this.#timed !== null) return;
    this.#timed = first;
    this.#ports.after?.(() => {
      this.#timed = null;
      if (this.#forCompany[0] !== first) {
        this.#setTimer();
        return;
      }
      this.#isLate = true;
      this.#start();
    }, COMPANY_WAIT_MS);
  }

  #start(): void {
    if (!this.#running && !this.#gathering) void this.#loop();
  }

  /** Nothing is run any more: what waits, and what comes, is rejected with `error`. A commit in flight still counts. */
  end(error: unknown): void {
    this.#failure = { error };
    for (const job of this.#take().jobs) job.reject(error);
  }

  /** What the next turn runs, and how many of it somebody waits for. */
  #take(): { readonly jobs: readonly Job[]; readonly awaited: number } {
    const waiting = this.#waiting;
    const jobs = this.#forCompany.length === 0 ? waiting : [...this.#forCompany, ...waiting];
    this.#waiting = [];
    this.#forCompany = [];
    this.#isLate = false;
    return { jobs, awaited: waiting.length };
  }

  async #loop(): Promise<void> {
    this.#running = true;
    while (this.#waiting.length > 0 || this.#isLate) {
      let jobs: readonly Job[] = [];
      try {
        if (this.#hasClockJumped()) {
          await this.#durable();
          continue;
        }
        const taken = this.#take();
        jobs = taken.jobs;
        const leases = this.#ports.turn(() => {
          for (const job of jobs) job.run();
        });
        if (leases === "brief" || !this.#isLone(jobs, taken.awaited)) await this.#synced();
        else if (leases === "long") this.#leavingSinceMs = this.#ports.nowMs();
        for (const job of jobs) job.resolve();
      } catch (error) {
        this.#fail(error, jobs);
      }
    }
    this.#running = false;
  }

  #hasClockJumped(): boolean {
    return this.#leavingSinceMs !== null && this.#ports.nowMs() - this.#leavingSinceMs >= LEAVING_MS_MAX;
  }

  #isLone(jobs: readonly Job[], awaited: number): boolean {
    return jobs.every(({ isGated }) => isGated) && this.#loneTurns?.take(awaited) === true;
  }

  async #synced(): Promise<void> {
    const sinceMs = this.#ports.nowMs();
    await this.#durable();
    this.#loneTurns?.waited(sinceMs, this.#waiting.length);
  }

  async #durable(): Promise<void> {
    await this.#ports.synced();
    this.#leavingSinceMs = null;
    this.#ports.durable();
  }

  #fail(error: unknown, jobs: readonly Job[]): void {
    for (const job of jobs) job.reject(error);
    this.end(error);
    this.#ports.broken(error);
  }
}
