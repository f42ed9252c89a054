import { closeSync, createReadStream, fstatSync, openSync, readSync, statSync } from "node:fs";
import { resolve } from "node:path";
import type { Readable } from "node:stream";
import type { BackupMessage, BackupTopicSubscription } from "@sluice/gateway/views";
import { type BackupKind, backupOf, restore, restoreMessages } from "../../client/backup.ts";
import { BrokerFailure } from "../../client/broker-client.ts";
import { CliError, EXIT_FAILED, EXIT_USAGE } from "../../errors.ts";
import { type Progress, progressBar } from "../../report/progress.ts";
import { plural } from "../../report/words.ts";
import { answer, type OnBroker } from "../on-broker.ts";
import { type BackupHeader, type BackupLine, backupLineIn, headerIn } from "./backup-lines.ts";
import { Checkpoint } from "./checkpoint.ts";
import { linesOf } from "./lines.ts";

/** Messages and characters of lines in one request; the broker takes 100, and 1 MiB of bodies. */
const BATCH_MESSAGES = 100;
const BATCH_CHARACTERS = 700_000;
/** Names in a sentence. */
const NAMES_MAX = 5;
/** Bytes of a file's end that its last line is looked for in. */
const END_BYTES = 200;

export interface ImportAllOptions {
  /** Leaves queues and topics as they are that the broker has already, and adds the messages. */
  readonly merge?: boolean;
  /** Goes on with an import of the file that was stopped. */
  readonly resume?: boolean;
}

/** How far an import of a backup has come. */
interface RestoreState {
  /** Lines that are done. */
  readonly lines: number;
  /** What the queues of endpoints are called now, by the name in the backup. */
  readonly targets: Readonly<Record<string, string>>;
}

interface Source {
  readonly input: Readable;
  /** Bytes of the file; 0 where nobody knows. */
  readonly size: number;
  readonly begun: RestoreState | null;
  /** `null` for standard input. */
  readonly checkpoint: Checkpoint<RestoreState> | null;
}

/**
 * `sluice import --all`: brings a broker back that `sluice export --all` has written. Messages keep their ids, the time
 * of their send, their attempts and what was left of their delay; their retention begins anew. Stopped and resumed, it
 * stores at most the batch that was under way a second time.
 *
 * @param file `-` for standard input.
 */
export async function importAll(on: OnBroker, file: string, options: ImportAllOptions): Promise<number> {
  const source = open(on, file, options);
  const bar = file === "-" ? null : progressBar(on.surroundings, "bytes");
  const restoring = new Restoring(on, file, source, bar);
  let line = 0;
  try {
    for await (const text of linesOf(source.input)) {
      line += 1;
      restoring.passed(text);
      if (line === 1) {
        const header = headerIn(text, file);
        if (source.begun === null && options.merge !== true) await refuseExisting(on, header);
      } else if (line > (source.begun?.lines ?? 0) && text.trim() !== "") {
        await restoring.take(backupLineIn(text, `${file}:${line}`), line, text.length);
      }
    }
    await restoring.end(line);
  } finally {
    bar?.stop();
  }
  source.checkpoint?.remove();
  answer(on, restoring.figures, { words: restoring.words });
  return 0;
}

/** What is being restored: line by line, messages in batches. */
class Restoring {
  readonly figures = { queues: 0, topics: 0, subscriptions: 0, messages: 0, existed: 0 };
  readonly #on: OnBroker;
  readonly #file: string;
  readonly #source: Source;
  readonly #bar: Progress | null;
  #targets: Record<string, string>;
  #batch: { readonly line: number; readonly message: BackupMessage }[] = [];
  #batchQueue = "";
  #batchCharacters = 0;
  #bytes = 0;
  #isWhole = false;

  constructor(on: OnBroker, file: string, source: Source, bar: Progress | null) {
    this.#on = on;
    this.#file = file;
    this.#source = source;
    this.#bar = bar;
    this.#targets = { ...source.begun?.targets };
  }

  get words(): string {
    const { queues, topics, subscriptions, messages, existed } = this.figures;
    const counts = [plural(queues, "queue"), plural(topics, "topic"), plural(subscriptions, "subscription")];
    const left = existed === 0 ? "" : ` ${existed} of what the backup has were there, and are as they were.`;
    return `Imported ${counts.join(", ")} and ${plural(messages, "message")}.${left}`;
  }

  /** A line was read. */
  passed(text: string): void {
    this.#bytes += Buffer.byteLength(text) + 1;
  }

  async take(line: BackupLine, number: number, characters: number): Promise<void> {
    if ("message" in line) {
      const isFull =
        this.#batch.length >= BATCH_MESSAGES || this.#batchCharacters + characters > BATCH_CHARACTERS;
      if (isFull || line.in !== this.#batchQueue) await this.#flush(number - 1);
      this.#batchQueue = line.in;
      this.#batch.push({ line: number, message: line.message });
      this.#batchCharacters += characters;
      return;
    }
    await this.#flush(number - 1);
    if ("end" in line) this.#isWhole = true;
    else await this.#restore(line, number);
    this.#keep(number);
  }

  /**
   * All lines were read.
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

  async #restore(line: Exclude<BackupLine, { message: unknown } | { end: unknown }>, number: number) {
    if ("queue" in line) await this.#one("queues", line.queue, number, "queues");
    else if ("topic" in line) await this.#one("topics", line.topic, number, "topics");
    else if ("subscription" in line)
      await this.#one("subscriptions", line.subscription, number, "subscriptions");
    else await this.#topicSubscription(line.topicSubscription, number);
  }

  async #topicSubscription(subscription: BackupTopicSubscription, number: number): Promise<void> {
    const { printer } = this.#on;
    const { arn, endpoint, topicArn } = subscription;
    if (!subscription.isConfirmed) {
      printer.warn(`${endpoint} has not confirmed that it subscribes to ${topicArn}: subscribe it anew.`);
      return;
    }
    if (subscription.lacksPassword) {
      printer.warn(`The password of ${endpoint} is in no backup: subscribe it to ${topicArn} anew, with it.`);
    }
    const { target } = await this.#one("topic-subscriptions", subscription, number, "subscriptions");
    if (target === undefined) throw new CliError(`${arn} has no queue: the broker is of another version.`);
    this.#targets[subscription.target] = target;
  }

  async #one(kind: BackupKind, body: object, number: number, counted: "queues" | "topics" | "subscriptions") {
    try {
      const restored = await restore(this.#on.client, kind, body);
      this.figures[restored.outcome === "created" ? counted : "existed"] += 1;
      return restored;
    } catch (error) {
      if (!(error instanceof BrokerFailure)) throw error;
      throw new CliError(`${this.#file}:${number}: ${error.message}`, error.exitCode);
    }
  }

  async #flush(lines: number): Promise<void> {
    const batch = this.#batch;
    if (batch.length === 0) return;
    const queue = this.#targets[this.#batchQueue] ?? this.#batchQueue;
    this.#batch = [];
    this.#batchCharacters = 0;
    try {
      await restoreMessages(
        this.#on.client,
        queue,
        batch.map(({ message }) => message),
      );
    } catch (error) {
      if (!(error instanceof BrokerFailure)) throw error;
      const line = batch[error.index ?? 0]?.line;
      throw new CliError(`${this.#file}:${line}: ${error.message}`, error.exitCode);
    }
    this.figures.messages += batch.length;
    this.#keep(lines);
  }

  #keep(lines: number): void {
    this.#source.checkpoint?.write({ lines, targets: this.#targets });
    this.#bar?.update(this.#bytes, this.#source.size);
  }
}

function open(on: OnBroker, file: string, { resume = false }: ImportAllOptions): Source {
  if (file === "-") {
    if (resume) throw new CliError("--resume goes on with a file, and not with standard input.", EXIT_USAGE);
    return { input: on.surroundings.input, size: 0, begun: null, checkpoint: null };
  }
  const path = resolve(on.surroundings.cwd, file);
  if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true) {
    throw new CliError(`There is no file ${file}.`, EXIT_FAILED);
  }
  const checkpoint = new Checkpoint<RestoreState>(`${path}.sluice-import`);
  const begun = checkpoint.exists ? checkpoint.read() : null;
  if (begun !== null && !resume) {
    const where = `An import of ${file} has stopped after line ${begun.lines}.`;
    throw new CliError(`${where} --resume goes on; to begin anew delete ${checkpoint.file}`, EXIT_FAILED);
  }
  if (begun !== null && begun.targets === undefined) {
    throw new CliError(`The import of ${file} that was stopped went into one queue.`, EXIT_USAGE);
  }
  const descriptor = openSync(path, "r");
  if (!endsWell(descriptor)) {
    closeSync(descriptor);
    const text = `${file} ends in the middle: its export was stopped. "sluice export --all --resume" goes on with it.`;
    throw new CliError(text, EXIT_FAILED);
  }
  const { size } = fstatSync(descriptor);
  return { input: createReadStream(path, { fd: descriptor, start: 0 }), size, begun, checkpoint };
}

/** Whether the last line of a file is that of a backup. */
function endsWell(descriptor: number): boolean {
  const { size } = fstatSync(descriptor);
  const end = Buffer.alloc(Math.min(END_BYTES, size));
  readSync(descriptor, end, 0, end.length, size - end.length);
  return /^\{"end":.*\}\n$/m.test(end.toString("utf8").split("\n").slice(-2).join("\n"));
}

/** @throws CliError where the broker has queues or topics of the backup. */
async function refuseExisting({ client }: OnBroker, { queues, topics }: BackupHeader): Promise<void> {
  const has = await backupOf(client);
  const there = new Set([...has.queues.map(({ name }) => name), ...has.topics.map(({ arn }) => arn)]);
  const both = [...queues, ...topics].filter((name) => there.has(name));
  if (both.length === 0) return;
  const more = both.length > NAMES_MAX ? ` and ${both.length - NAMES_MAX} more` : "";
  const names = both.slice(0, NAMES_MAX).join(", ") + more;
  throw new CliError(
    `The broker has some of what is in the backup: ${names}. --merge leaves that as it is, and adds the messages.`,
    EXIT_FAILED,
  );
}
