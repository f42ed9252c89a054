import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll } from "vitest";
import { type BrokerHarness, startBroker } from "./harness.ts";
import type { SeenBatch } from "./messages.ts";

/** Step of a case in one life of a broker. */
type Step = (broker: BrokerHarness) => Promise<void>;
type Options = Omit<Parameters<typeof startBroker>[0], "persistDir">;

/**
 * Several lives of a broker on the same files, one after the other, with cases that each have a step in them. A start
 * takes a second, so all cases of a file share it: each has queues of its own, and fails by itself.
 */
export class Lives {
  readonly #options: readonly Options[];
  readonly #cases: (readonly Step[])[] = [];
  readonly #last = new Set<readonly Step[]>();
  readonly #failures = new Map<readonly Step[], unknown>();
  #folder = "";
  /** Called with the folder when a life has ended. */
  between = async (_folder: string): Promise<void> => {};
  /** Resolves when all lives have passed. */
  passed = async (): Promise<void> => {};
  /** The one that runs. */
  broker: BrokerHarness | undefined;

  /** @param options those of each life. */
  constructor(...options: readonly Options[]) {
    this.#options = options;
  }

  /** Makes the function of a test. Its steps are taken beside those of the other cases, within the first test. */
  of(...steps: readonly Step[]): () => Promise<void> {
    return this.#testOf(steps);
  }

  #testOf(steps: readonly Step[]): () => Promise<void> {
    this.#cases.push(steps);
    return async () => {
      await this.passed();
      if (this.#failures.has(steps)) throw this.#failures.get(steps);
    };
  }

  /** Makes the function of a test whose steps are taken when those of the other cases are done. */
  last(...steps: readonly Step[]): () => Promise<void> {
    this.#last.add(steps);
    return this.#testOf(steps);
  }

  get lives(): number {
    return this.#options.length;
  }

  /** Begins the next life, and takes the steps in it. */
  async begin(life: number): Promise<void> {
    const options = this.#options[life];
    if (options === undefined) return;
    if (life === 0) this.#folder = await mkdtemp(path.join(tmpdir(), "sluice-lives-"));
    const broker = await startBroker({ ...options, persistDir: this.#folder });
    this.broker = broker;
    const takeAll = (isLast: boolean) =>
      Promise.all(
        this.#cases.map((steps) => this.#last.has(steps) === isLast && this.#take(steps, life, broker)),
      );
    await takeAll(false);
    await takeAll(true);
  }

  async end(): Promise<void> {
    if (this.broker === undefined) return;
    await this.broker.stop();
    await this.between(this.#folder);
    this.broker = undefined;
  }

  async remove(): Promise<void> {
    await rm(this.#folder, { recursive: true, force: true });
  }

  async #take(steps: readonly Step[], life: number, broker: BrokerHarness): Promise<void> {
    if (this.#failures.has(steps)) return;
    try {
      await steps[life]?.(broker);
    } catch (error) {
      this.#failures.set(steps, error);
    }
  }
}

/** Has lives pass within the first test of a file, side by side. @param isKilled whether SIGKILL ends all of a file's brokers. */
export function livesOfFile(all: readonly Lives[], isKilled = false): void {
  const live = async () => {
    for (let life = 0; life < Math.max(...all.map(({ lives }) => lives)); life++) {
      await Promise.all(all.map((each) => each.begin(life)));
      if (isKilled) await all.find(({ broker }) => broker !== undefined)?.broker?.kill();
      await Promise.all(all.map((each) => each.end()));
    }
  };
  let passed: Promise<void> | undefined;
  for (const each of all) {
    each.passed = () => {
      passed ??= live();
      return passed;
    };
  }
  afterAll(async () => {
    await Promise.all(all.map((each) => each.remove()));
  });
}

/** Batches of one queue. */
export function seenOf(seen: readonly SeenBatch[], queue: string): SeenBatch[] {
  return seen.filter((batch) => batch.queue === queue);
}
