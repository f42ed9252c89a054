import { createReadStream, openSync, statSync } from "node:fs";
import { resolve } from "node:path";
import type { Readable } from "node:stream";
import { CliError, EXIT_FAILED, EXIT_USAGE } from "@sluice/project/errors";
import { plural } from "@sluice/protocol/words";
import { BrokerFailure } from "../../client/broker-client.ts";
import { type BatchMessage, sendBatch } from "../../client/messages.ts";
import { queueNamed } from "../../client/queues.ts";
import { type Progress, progressBar } from "../../progress.ts";
import { answer, type OnBroker } from "../on-broker.ts";
import { Checkpoint } from "./checkpoint.ts";
import { BATCH_BYTES, BATCH_MESSAGES, bytesInRequest, linesOf, messageIn } from "./lines.ts";

export interface ImportOptions {
  /** Continue an import of the file that was stopped. */
  readonly resume?: boolean;
}

/** Progress of an import, kept in its checkpoint. */
interface ImportState {
  readonly queue: string;
  /** Number of lines that are done. */
  readonly lines: number;
}

interface Batch {
  readonly messages: BatchMessage[];
  /** Number of each message's line, from 1. */
  readonly lines: number[];
  /** Bytes of the messages in the request. */
  bytes: number;
}

const newBatch = (): Batch => ({ messages: [], lines: [], bytes: 0 });

/**
 * `sluice import`: sends the messages of an export, or of lines of the same form. They get new ids, and are due as new
 * messages are. An import that is stopped and resumed sends at most one batch twice.
 *
 * @param file path, or `-` for standard input.
 */
export async function importMessages(
  on: OnBroker,
  queue: string,
  file: string,
  options: ImportOptions,
): Promise<number> {
  await queueNamed(on.client, queue);
  const source = open(on, queue, file, options);
  const bar = file === "-" ? null : progressBar(on.surroundings, "bytes");
  try {
    const imported = await sendAll(on, queue, file, source, bar);
    source.checkpoint?.remove();
    answer(on, { queue, imported }, { words: `Imported ${plural(imported, "message")} into ${queue}.` });
    return 0;
  } finally {
    bar?.stop();
  }
}

/** Input of an import, with its progress. */
interface Source {
  readonly input: Readable;
  /** Bytes of the file; 0 for standard input. */
  readonly size: number;
  readonly linesDone: number;
  /** `null` for standard input. */
  readonly checkpoint: Checkpoint<ImportState> | null;
}

function open(on: OnBroker, queue: string, file: string, { resume = false }: ImportOptions): Source {
  if (file === "-") {
    if (resume) throw new CliError("--resume goes on with a file, and not with standard input.", EXIT_USAGE);
    return { input: on.surroundings.input, size: 0, linesDone: 0, checkpoint: null };
  }
  const path = resolve(on.surroundings.cwd, file);
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat?.isFile() !== true) throw new CliError(`There is no file ${file}.`, EXIT_FAILED);
  const checkpoint = new Checkpoint<ImportState>(`${path}.sluice-import`);
  const state = checkpoint.exists ? checkpoint.read() : null;
  if (state !== null && !resume) {
    const where = `An import of ${file} into ${state.queue} has stopped after line ${state.lines}.`;
    throw new CliError(`${where} --resume goes on; to begin anew delete ${checkpoint.file}`, EXIT_FAILED);
  }
  if (state !== null && state.queue !== queue) {
    throw new CliError(`The import of ${file} that was stopped went into ${state.queue}.`, EXIT_USAGE);
  }
  // Opened here, because an error event of the stream would come before anything listens to it.
  const input = createReadStream(path, { fd: openSync(path, "r") });
  return { input, size: stat.size, linesDone: state?.lines ?? 0, checkpoint };
}

/**
 * Sends all lines that are not done.
 *
 * @returns the number of messages sent.
 */
async function sendAll(
  on: OnBroker,
  queue: string,
  file: string,
  { input, size, linesDone, checkpoint }: Source,
  bar: Progress | null,
): Promise<number> {
  let line = 0;
  let bytes = 0;
  let sent = 0;
  let batch = newBatch();
  const flush = async (lines: number) => {
    if (batch.messages.length > 0) await sendOne(on, queue, file, batch);
    sent += batch.messages.length;
    batch = newBatch();
    checkpoint?.write({ queue, lines });
    bar?.update(bytes, size);
  };
  for await (const text of linesOf(input)) {
    line += 1;
    bytes += Buffer.byteLength(text) + 1;
    if (line <= linesDone || text.trim() === "") continue;
    const message = messageIn(text, `${file}:${line}`);
    const own = bytesInRequest(message);
    if (batch.bytes + own > BATCH_BYTES || batch.messages.length >= BATCH_MESSAGES) await flush(line - 1);
    batch.messages.push(message);
    batch.lines.push(line);
    batch.bytes += own;
  }
  if (line < linesDone)
    throw new CliError(
      `${file} has ${plural(line, "line")}, and the import has stopped after line ${linesDone}: it is not the same file.`,
      EXIT_FAILED,
    );
  await flush(line);
  return sent;
}

async function sendOne({ client }: OnBroker, queue: string, file: string, batch: Batch): Promise<void> {
  try {
    await sendBatch(client, queue, batch.messages);
  } catch (error) {
    const line = error instanceof BrokerFailure ? batch.lines[error.index ?? -1] : undefined;
    if (line === undefined || !(error instanceof BrokerFailure)) throw error;
    throw new CliError(`${file}:${line}: ${error.ofMessage}`, EXIT_FAILED);
  }
}
