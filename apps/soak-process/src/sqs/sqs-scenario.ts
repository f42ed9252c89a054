import { rm } from "node:fs/promises";
import { Random } from "@sluice/harness/random";
import { damageLines, drained, type Scenario } from "../scenario/scenario.ts";
import { BrokerLab, type LabBroker, type StartOptions } from "./broker-lab.ts";
import type { BrokerProcess } from "./broker-process.ts";
import { createQueues } from "./queues.ts";
import { ReceiveLedger, type SqsSummary } from "./receive-ledger.ts";
import { consume } from "./sqs-consumers.ts";
import { produce, type Unanswered } from "./sqs-producers.ts";

/** `sluice serve` with clients of SQS and their ledger, over any number of epochs. */
export class SqsScenario implements Scenario<SqsSummary> {
  readonly ledger: ReceiveLedger;
  readonly random: Random;
  readonly persistDir: string;
  /** Messages whose sends were not answered, by group. */
  readonly unanswered: Unanswered = new Map();
  readonly #lab: BrokerLab;
  readonly #broker: LabBroker;
  #hasQueues = false;
  #epoch: BrokerProcess | null = null;
  #stop = { producing: new AbortController(), consuming: new AbortController() };
  #producing: Promise<void> = Promise.resolve();
  #consuming: Promise<void> = Promise.resolve();
  #isDraining = false;
  readonly #earlierLines: string[] = [];

  /** @param persistDir an empty folder. Default: a new one. `close` deletes either. */
  static async open(
    seed: number,
    persistDir?: string,
    ledger: ReceiveLedger = new ReceiveLedger(),
  ): Promise<SqsScenario> {
    const lab = await BrokerLab.open();
    return new SqsScenario(seed, lab, await lab.broker(persistDir), ledger);
  }

  private constructor(seed: number, lab: BrokerLab, broker: LabBroker, ledger: ReceiveLedger) {
    this.random = new Random(seed);
    this.#lab = lab;
    this.#broker = broker;
    this.persistDir = broker.persistDir;
    this.ledger = ledger;
  }

  /** The epoch that is running. */
  get epoch(): BrokerProcess {
    if (this.#epoch === null) throw new Error("nothing is running");
    return this.#epoch;
  }

  get refusedCount(): number {
    return this.ledger.refusedCalls;
  }

  /** Lines about damage, and about errors that no part of the broker has handled. */
  unexpectedLines(): string[] {
    const lines = [...this.#earlierLines, ...(this.#epoch?.lines ?? [])];
    const errors = lines.filter((line) => /promise was rejected|its alarm|Error/.test(line));
    return [...damageLines(lines), ...errors];
  }

  hasEnded(): boolean {
    return this.epoch.ended !== null;
  }

  get pid(): number {
    return this.epoch.pid;
  }

  /** Working folder of the broker: a configuration there is read at each start. */
  get folder(): string {
    return this.#lab.folder;
  }

  async start(options?: StartOptions): Promise<void> {
    this.#epoch = await this.#broker.start(options);
    if (!this.#hasQueues) await createQueues(this.epoch.endpoint);
    this.#hasQueues = true;
  }

  /** Starts the broker and kills it `ms` later, whether it answers by then or not. */
  async startInVain(ms: number, options?: StartOptions): Promise<void> {
    this.#earlierLines.push(...(await this.#broker.startInVain(ms, options)).lines);
  }

  /** Starts sending and receiving at random, until `drain` or the end of this epoch. */
  load(): void {
    const { endpoint } = this.epoch;
    const { ledger, random } = this;
    this.#stop = { producing: new AbortController(), consuming: new AbortController() };
    const shared = { endpoint, ledger };
    this.#producing = produce({
      ...shared,
      random: random.fork(),
      unanswered: this.unanswered,
      stop: this.#stop.producing.signal,
    });
    this.#consuming = consume({
      ...shared,
      random: random.fork(),
      isDraining: () => this.#isDraining,
      stop: this.#stop.consuming.signal,
    });
  }

  /** kill -9, in the middle of the load. */
  async kill(): Promise<void> {
    await this.epoch.kill();
    await this.#stopLoad();
    this.#earlierLines.push(...this.epoch.lines);
    this.#epoch = null;
  }

  /** Stops the broker as Ctrl+C does. */
  async stop(): Promise<void> {
    await this.#stopLoad();
    const ended = await this.epoch.stop();
    if (ended?.code !== 0) {
      this.ledger.violation(`it ended with ${ended?.code ?? ended?.signal} when it was asked to stop`);
    }
    this.#earlierLines.push(...this.epoch.lines);
    this.#epoch = null;
  }

  /** Receives and deletes all messages, until every queue is empty. Resolves to `false` if no more come for a while. */
  async drain(): Promise<boolean> {
    this.#isDraining = true;
    this.#stop.producing.abort();
    await this.#producing;
    return drained(this.epoch, this.ledger, () => this.ledger.received);
  }

  async close(): Promise<void> {
    if (this.#epoch !== null) await this.kill();
    await rm(this.persistDir, { recursive: true, force: true });
    await this.#lab.close();
  }

  async #stopLoad(): Promise<void> {
    this.#stop.producing.abort();
    this.#stop.consuming.abort();
    await Promise.all([this.#producing, this.#consuming]);
  }
}
