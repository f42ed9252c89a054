import type { Readable } from "node:stream";
import type { BackupMessage, BackupTopicSubscription } from "@sluice/gateway/views";
import { CliError, EXIT_FAILED } from "@sluice/project/errors";
import { plural, printable } from "@sluice/protocol/words";
import { type BackupKind, restore, restoreMessages } from "../../client/backup.ts";
import { BrokerFailure } from "../../client/broker-client.ts";
import type { Progress } from "../../progress.ts";
import type { OnBroker } from "../on-broker.ts";
import type { BackupLine, SettingsLine } from "./backup-lines.ts";
import type { Checkpoint } from "./checkpoint.ts";
import { BATCH_BYTES, BATCH_MESSAGES, bytesInRequest } from "./lines.ts";
import { type NumberedSettings, namesIn } from "./settings-lines.ts";

/** Progress of an import of a backup. A contract: a later release may continue it. */
export interface RestoreState {
  /** Number of lines that are done. */
  readonly lines: number;
  /** New names of the queues of HTTP subscriptions, by the name in the backup; `null` until the endpoint confirms. */
  readonly targets: Readonly<Record<string, string | null>>;
  /** Whether the broker may have had parts of the backup already. */
  readonly merges?: boolean;
}

/** Backup to import, with its progress. */
export interface Source {
  readonly input: Readable;
  /** Bytes of the file; 0 for standard input. */
  readonly size: number;
  readonly begun: RestoreState | null;
  /** `null` for standard input. */
  readonly checkpoint: Checkpoint<RestoreState> | null;
}

/** Restores a backup line by line, with messages in batches. */
export class Restoring {
  readonly figures = {
    queues: 0,
    topics: 0,
    subscriptions: 0,
    messages: 0,
    existed: 0,
    /** Number of HTTP endpoints that were asked to confirm their subscription. */
    asked: 0,
    /** Number of messages for endpoints that have not confirmed. */
    leftOut: 0,
  };
  readonly #on: OnBroker;
  readonly #file: string;
  readonly #source: Source;
  readonly #bar: Progress | null;
  readonly #merges: boolean;
  /** Names that the settings of the backup define or lead to. */
  readonly #named = new Set<string>();
  /** A map, since a queue may be called "constructor". */
  readonly #targets: Map<string, string | null>;
  #batch: { readonly line: number; readonly message: BackupMessage }[] = [];
  #batchQueue = "";
  #batchBytes = 0;
  #bytes = 0;
  #isWhole = false;

  /** @param merges whether messages may go to queues that the backup has no line for. */
  constructor(on: OnBroker, file: string, source: Source, bar: Progress | null, merges: boolean) {
    this.#on = on;
    this.#file = file;
    this.#source = source;
    this.#bar = bar;
    this.#merges = merges;
    this.#targets = new Map(Object.entries(source.begun?.targets ?? {}));
  }

  get words(): string {
    const { queues, topics, subscriptions, messages, existed, asked, leftOut } = this.figures;
    const counts = [plural(queues, "queue"), plural(topics, "topic"), plural(subscriptions, "subscription")];
    const sentences = [
      `Imported ${counts.join(", ")} and ${plural(messages, "message")}.`,
      existed === 0 ? "" : `${existed} of them existed already, and were not changed.`,
      asked === 0
        ? ""
        : `Asked ${plural(asked, "HTTP endpoint")} to confirm: before that no message is posted there.`,
      leftOut === 0
        ? ""
        : `Left out ${plural(leftOut, "message")} for endpoints that have not confirmed: the backup has them.`,
    ];
    return sentences.filter((sentence) => sentence !== "").join(" ");
  }

  /** Counts the bytes of a line that was read, for the progress. */
  count(text: string): void {
    this.#bytes += Buffer.byteLength(text) + 1;
  }

  /**
   * Restores the settings. The checkpoint counts them only when all are restored. After a failure all are restored
   * again, which leaves existing ones as they are.
   *
   * @param all settings of the backup.
   * @param left settings that are not restored yet, in their order.
   */
  async settle(all: readonly NumberedSettings[], left: readonly NumberedSettings[]): Promise<void> {
    for (const name of all.flatMap(({ line }) => namesIn(line))) this.#named.add(name);
    if (left.length === 0) return;
    this.#keep(this.#source.begun?.lines ?? 1);
    for (const { line, number } of left) await this.#restore(line, number);
    this.#keep(all.at(-1)?.number ?? 1);
  }

  /** Adds a message to the current batch, or handles the last line. Sends a batch that is full. */
  async take(line: Exclude<BackupLine, SettingsLine>, number: number): Promise<void> {
    if ("message" in line) {
      if (!this.#merges && !this.#named.has(line.in)) {
        const text = `the backup has no line for the queue ${printable(line.in)}. --merge adds messages to what is there.`;
        throw new CliError(`${this.#file}:${number}: ${text}`, EXIT_FAILED);
      }
      if (this.#targets.get(line.in) === null) {
        this.figures.leftOut += 1;
        return;
      }
      const own = bytesInRequest(line.message);
      const isFull = this.#batch.length >= BATCH_MESSAGES || this.#batchBytes + own > BATCH_BYTES;
      if (isFull || line.in !== this.#batchQueue) await this.#flush(number - 1);
      this.#batchQueue = line.in;
      this.#batch.push({ line: number, message: line.message });
      this.#batchBytes += own;
      return;
    }
    await this.#flush(number - 1);
    this.#isWhole = true;
    this.#keep(number);
  }

  /**
   * Sends the last batch after all lines were read.
   *
   * @throws CliError for a backup that was cut off.
   */
  async end(lines: number): Promise<void> {
    await this.#flush(lines);
    if (this.#isWhole) return;
    const { messages } = this.figures;
    throw new CliError(
      `${this.#file} ends in the middle: ${plural(messages, "message")} of it were imported.`,
      EXIT_FAILED,
    );
  }

  async #restore(line: SettingsLine, number: number) {
    if ("queue" in line) {
      const { variableRefusals = [] } = await this.#one("queues", line.queue, number, "queues");
      for (const reason of variableRefusals) {
        this.#on.printer.warn(
          printable(`Messages of ${line.queue.name} wait, its endpoint cannot be called: ${reason}.`),
        );
      }
    } else if ("topic" in line) await this.#one("topics", line.topic, number, "topics");
    else if ("subscription" in line)
      await this.#one("subscriptions", line.subscription, number, "subscriptions");
    else await this.#topicSubscription(line.topicSubscription, number);
  }

  async #topicSubscription(subscription: BackupTopicSubscription, number: number): Promise<void> {
    const { printer } = this.#on;
    const { arn, endpoint, topicArn } = subscription;
    if (!subscription.isConfirmed) {
      const text = `${endpoint} has not confirmed that it subscribes to ${topicArn}: subscribe it anew.`;
      printer.warn(printable(text));
      return;
    }
    if (subscription.lacksPassword) {
      const text = `The password of ${endpoint} is in no backup: subscribe it to ${topicArn} anew, with it.`;
      printer.warn(printable(text));
    }
    const restored = await this.#one("topic-subscriptions", subscription, number, "subscriptions");
    const { target, outcome } = restored;
    if (target === undefined) throw new CliError(`${arn} has no queue: the broker is of another version.`);
    if (target === null && outcome === "created") this.figures.asked += 1;
    this.#targets.set(subscription.target, target);
  }

  async #one(kind: BackupKind, body: object, number: number, counted: "queues" | "topics" | "subscriptions") {
    try {
      const restored = await restore(this.#on.client, kind, body);
      this.figures[restored.outcome === "created" ? counted : "existed"] += 1;
      return restored;
    } catch (error) {
      if (!(error instanceof BrokerFailure)) throw error;
      throw new CliError(`${this.#file}:${number}: ${printable(error.message)}`, error.exitCode);
    }
  }

  async #flush(lines: number): Promise<void> {
    const batch = this.#batch;
    if (batch.length === 0) return;
    const queue = this.#targets.get(this.#batchQueue) ?? this.#batchQueue;
    this.#batch = [];
    this.#batchBytes = 0;
    try {
      await restoreMessages(
        this.#on.client,
        queue,
        batch.map(({ message }) => message),
      );
    } catch (error) {
      if (!(error instanceof BrokerFailure)) throw error;
      const line = batch[error.index ?? 0]?.line;
      throw new CliError(`${this.#file}:${line}: ${printable(error.ofMessage)}`, error.exitCode);
    }
    this.figures.messages += batch.length;
    this.#keep(lines);
  }

  #keep(lines: number): void {
    this.#source.checkpoint?.write({
      lines,
      targets: Object.fromEntries(this.#targets),
      ...(this.#merges ? { merges: true } : {}),
    });
    this.#bar?.update(this.#bytes, this.#source.size);
  }
}
