import { writeFile } from "node:fs/promises";
import path from "node:path";
import type { Random } from "@sluice/harness/random";
import type { Scenario } from "../scenario/scenario.ts";
import { DEAD_QUEUE, ORDERED_QUEUE, UNORDERED_QUEUES, VISIBILITY_MS } from "../sqs/queues.ts";
import type { SqsSummary } from "../sqs/receive-ledger.ts";
import { produceOrdered, produceUnordered } from "../sqs/sqs-producers.ts";
import { SqsScenario } from "../sqs/sqs-scenario.ts";
import { Endpoint } from "./endpoint.ts";
import { PushLedger } from "./push-ledger.ts";

/** Queues that an HTTP endpoint consumes. */
const PUSHED_QUEUE = "pushed";
const PUSHED_ORDERED_QUEUE = "pushed.fifo";
const CONCURRENCY_MAX = 3;
const GROUPS = 6;
const PRODUCERS = 4;
/** Numbers of shards to draw from: small ones come more often. */
const SHARDS = [1, 1, 2, 2, 3, 3, 5, 8] as const;
const SHARDS_MAX = 100;
/** Share of draws that are the largest number; each shard is a file. */
const MANY_SHARE = 0.02;
/** Share of starts before which another start is killed, maybe before the broker answers. */
const IN_VAIN_SHARE = 0.3;
/** Longest time until such a start is killed, in ms. */
const IN_VAIN_MS_MAX = 1_500;
/** Share of starts after which the clock is moved: a FIFO queue changes its shards again after five minutes. */
const MOVED_SHARE = 0.2;
const MOVED_MS = 6 * 60_000;
/** Options of a broker whose clock can be moved. */
const START = { env: { SLUICE_ENV: "development" } };

/** Summary of a run, with the endpoint's part. */
export interface ShardsSummary extends SqsSummary {
  readonly pushed: number;
  readonly repeated: number;
  /** Most requests that were open at a time, by queue. */
  readonly openMax: Readonly<Record<string, number>>;
  /** Number of changes of a queue's number of shards, over all queues and starts. */
  readonly changes: number;
}

interface ShardsParts {
  readonly ledger: ShardsLedger;
  readonly endpoint: Endpoint;
  readonly shardsMax: number;
}

/** Clients of SQS and an HTTP endpoint on queues whose numbers of shards change with each start. */
export class ShardsScenario implements Scenario<ShardsSummary> {
  readonly ledger: ShardsLedger;
  readonly #sqs: SqsScenario;
  readonly #endpoint: Endpoint;
  readonly #shardsMax: number;
  #shards: Readonly<Record<string, number>> = {};
  #stop = new AbortController();
  #producing: Promise<unknown> = Promise.resolve();

  /** @param shardsMax most shards of a queue. Default: the limit of the product. */
  static async open(seed: number, { shardsMax = SHARDS_MAX } = {}): Promise<ShardsScenario> {
    const ledger = new ShardsLedger();
    const sqs = await SqsScenario.open(seed, undefined, ledger);
    const endpoint = await Endpoint.open(ledger, sqs.random.fork(), CONCURRENCY_MAX);
    return new ShardsScenario(sqs, { ledger, endpoint, shardsMax });
  }

  private constructor(sqs: SqsScenario, { ledger, endpoint, shardsMax }: ShardsParts) {
    this.#sqs = sqs;
    this.ledger = ledger;
    this.#endpoint = endpoint;
    this.#shardsMax = shardsMax;
  }

  get random(): Random {
    return this.#sqs.random;
  }

  get refusedCount(): number {
    return this.#sqs.refusedCount;
  }

  get pid(): number {
    return this.#sqs.pid;
  }

  hasEnded(): boolean {
    return this.#sqs.hasEnded();
  }

  /** Lists unexpected lines. A late answer of the directory is expected: hundreds of objects start on one thread. */
  unexpectedLines(): string[] {
    return this.#sqs.unexpectedLines().filter((line) => !line.includes("the directory does not answer"));
  }

  /** Changes the numbers of shards and starts the broker, also while earlier changes are not over. */
  async start(): Promise<void> {
    const { random } = this;
    if (random.chance(IN_VAIN_SHARE)) {
      await this.#change();
      await this.#sqs.startInVain(random.between(0, IN_VAIN_MS_MAX), START);
      this.ledger.killed();
    }
    await this.#change();
    await this.#sqs.start(START);
    if (random.chance(MOVED_SHARE)) await this.#moveClock();
  }

  load(): void {
    this.#sqs.load();
    this.#stop = new AbortController();
    const { endpoint } = this.#sqs.epoch;
    const producing = () => ({
      endpoint,
      ledger: this.ledger,
      random: this.random.fork(),
      unanswered: this.#sqs.unanswered,
      stop: this.#stop.signal,
    });
    this.#producing = Promise.all([
      ...Array.from({ length: PRODUCERS }, () => produceUnordered(producing(), [PUSHED_QUEUE])),
      ...Array.from({ length: GROUPS }, (_, group) =>
        produceOrdered(producing(), PUSHED_ORDERED_QUEUE, `p${group}`),
      ),
    ]);
  }

  async kill(): Promise<void> {
    await this.#sqs.kill();
    this.ledger.killed();
    await this.#endLoad();
  }

  async drain(): Promise<boolean> {
    this.#endpoint.isDraining = true;
    await this.#endLoad();
    return this.#sqs.drain();
  }

  async close(): Promise<void> {
    await this.#sqs.close();
    await this.#endpoint.close();
  }

  async #endLoad(): Promise<void> {
    this.#stop.abort();
    await this.#producing;
  }

  async #change(): Promise<void> {
    const { random } = this;
    const drawn = () => (random.chance(MANY_SHARE) ? this.#shardsMax : random.pick(SHARDS));
    const names = [DEAD_QUEUE, ...UNORDERED_QUEUES, ORDERED_QUEUE, PUSHED_QUEUE, PUSHED_ORDERED_QUEUE];
    const shards = Object.fromEntries(names.map((name) => [name, drawn()]));
    this.ledger.changes += names.filter(
      (name) => (this.#shards[name] ?? shards[name]) !== shards[name],
    ).length;
    this.#shards = shards;
    await writeFile(path.join(this.#sqs.folder, "wrangler.toml"), configuration(shards, this.#endpoint.url));
  }

  /**
   * Moves the clock past all leases, delays and deduplication ids, so sends without an answer are not made again. The
   * broker refuses that while it delivers: the clock then stays.
   */
  async #moveClock(): Promise<void> {
    this.ledger.clockMoved();
    this.#sqs.unanswered.clear();
    await fetch(new URL("/__sluice/api/clock", this.#sqs.epoch.endpoint), {
      method: "POST",
      body: JSON.stringify({ advanceMs: MOVED_MS }),
    });
  }
}

/** Ledger that also counts changes of numbers of shards. */
class ShardsLedger extends PushLedger {
  changes = 0;

  override summary(): ShardsSummary {
    const { pushed, repeated, openMax, changes } = this;
    return { ...super.summary(), pushed, repeated, openMax: Object.fromEntries(openMax), changes };
  }
}

function configuration(shards: Readonly<Record<string, number>>, url: string): string {
  const visible = `visibility_timeout = ${VISIBILITY_MS / 1_000}`;
  const ordered = 'deduplication_scope = "messageGroup"';
  const pushedTo = (name: string) =>
    `[sluice.queues."${name}".push]\nurl = "${url}/${name}"\nmax_concurrency = ${CONCURRENCY_MAX}\nmax_retries = 100`;
  const settings: Readonly<Record<string, string>> = {
    [DEAD_QUEUE]: visible,
    plain: visible,
    "few-receives": `${visible}\nredrive = { dead_letter_queue = "${DEAD_QUEUE}", max_receive_count = 3 }`,
    [ORDERED_QUEUE]: `${visible}\n${ordered}`,
    [PUSHED_QUEUE]: pushedTo(PUSHED_QUEUE),
    [PUSHED_ORDERED_QUEUE]: `${ordered}\n${pushedTo(PUSHED_ORDERED_QUEUE)}`,
  };
  const tables = Object.entries(shards).map(
    ([name, count]) => `[sluice.queues."${name}"]\nshards = ${count}\n${settings[name] ?? ""}\n`,
  );
  return `name = "shards"\n${tables.join("")}`;
}
