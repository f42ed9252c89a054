import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { CliError, EXIT_FAILED, EXIT_NOT_FOUND, EXIT_USAGE } from "@sluice/project/errors";
import { plural } from "@sluice/protocol/words";
import { backupOf, pageOfBackup } from "../../client/backup.ts";
import { BrokerFailure } from "../../client/broker-client.ts";
import { progressBar } from "../../progress.ts";
import { answer, type OnBroker } from "../on-broker.ts";
import { firstLines, linesOfBackup } from "./backup-lines.ts";
import { Checkpoint } from "./checkpoint.ts";
import { hasLines, type Sink, toFile, toPrinter } from "./sink.ts";

interface ExportAllOptions {
  /** Path of the file. Default: standard output. */
  readonly output?: string;
  /** Whether to continue an export into `output` that was stopped. */
  readonly resume?: boolean;
}

/** Progress of an export, kept in its checkpoint. */
interface BackupState {
  /** Time of its start as ISO 8601, by the broker's clock. */
  readonly begunAt: string;
  /** Names of the queues, those of endpoints included, that are still to be read; the first one from `cursor` on. */
  readonly holders: readonly string[];
  readonly cursor: string | null;
  readonly messages: number;
}

/**
 * `sluice export --all`: writes the settings and messages of a running broker as lines of JSON. Nothing is leased or
 * counted, and no secret is written. Every message that was accepted before and is not settled meanwhile is included.
 */
export async function exportAll(on: OnBroker, options: ExportAllOptions): Promise<number> {
  const opened = await open(on, options);
  if (opened === null) {
    on.printer.warn(`${options.output} is complete: there is no export to continue.`);
    return 0;
  }
  const { sink, begun } = opened;
  const bar = progressBar(on.surroundings, "queues");
  let state = begun;
  const count = begun.holders.length;
  try {
    while (state.holders.length > 0) {
      state = await exportPage(on, state, sink);
      sink.keep(state);
      bar.update(count - state.holders.length, count);
    }
  } finally {
    bar.stop();
  }
  // A redrive may have moved messages from a queue that was still to be read to one that was read already.
  await refuseRedrives(on, state.begunAt);
  sink.write(linesOfBackup([{ end: { messages: state.messages } }]));
  sink.end();
  const words = `Exported the broker with ${plural(state.messages, "message")}.`;
  if (options.output === undefined) on.printer.warn(words);
  else answer(on, { exported: state.messages, file: options.output }, { words });
  return 0;
}

async function exportPage(
  { client }: OnBroker,
  state: BackupState,
  sink: Sink<BackupState>,
): Promise<BackupState> {
  const [holder = "", ...others] = state.holders;
  try {
    const { messages, cursor } = await pageOfBackup(client, holder, state.cursor);
    sink.write(linesOfBackup(messages.map((message) => ({ in: holder, message }))));
    const holders = cursor === null ? others : state.holders;
    return { ...state, holders, cursor, messages: state.messages + messages.length };
  } catch (error) {
    // The queue was deleted meanwhile.
    if (!(error instanceof BrokerFailure) || error.exitCode !== EXIT_NOT_FOUND) throw error;
    return { ...state, holders: others, cursor: null };
  }
}

async function open(
  on: OnBroker,
  { output, resume = false }: ExportAllOptions,
): Promise<{ sink: Sink<BackupState>; begun: BackupState } | null> {
  if (output === undefined) {
    if (resume) throw new CliError("--resume goes on with a file: name it with --output.", EXIT_USAGE);
    return begin(on, () => toPrinter(on.printer));
  }
  const file = resolve(on.surroundings.cwd, output);
  const checkpoint = new Checkpoint<BackupState & { readonly bytes: number }>(`${file}.sluice-export`);
  if (resume && checkpoint.exists) {
    const { bytes, ...begun } = checkpoint.read();
    if (begun.holders === undefined) {
      throw new CliError(
        `${output} is an export of one queue, and can only be continued as such.`,
        EXIT_USAGE,
      );
    }
    if (bytes > 0) return { begun, sink: toFile(file, "r+", bytes, checkpoint) };
  } else if (resume) {
    if (hasLines(file)) return null;
  } else if (existsSync(file)) {
    const text = `${output} exists. --resume goes on with an export that was stopped; else name another file.`;
    throw new CliError(text, EXIT_FAILED);
  }
  if (!resume) checkpoint.remove();
  return begin(on, () => toFile(file, resume ? "w" : "wx", 0, checkpoint));
}

async function begin(on: OnBroker, sinkOf: () => Sink<BackupState>) {
  const backup = await refuseRedrives(on, null);
  const sink = sinkOf();
  const begun: BackupState = { begunAt: backup.at, holders: backup.holders, cursor: null, messages: 0 };
  sink.keep(begun);
  sink.write(firstLines(backup));
  sink.keep(begun);
  return { sink, begun };
}

/**
 * Reads the broker's settings, and refuses a backup that a redrive may have made incomplete.
 *
 * @param since time as ISO 8601 from which redrives count that have ended; `null` counts only running ones.
 * @throws CliError where a redrive runs, or has begun since then.
 */
async function refuseRedrives({ client }: OnBroker, since: string | null) {
  const backup = await backupOf(client);
  const redrives = backup.redrives.filter(
    ({ isRunning, startedAt }) => isRunning || (since !== null && startedAt >= since),
  );
  if (redrives.length === 0) return backup;
  const names = redrives.map(({ queue }) => queue).join(", ");
  const text =
    since === null
      ? `A redrive moves messages out of ${names}. Wait until it has ended, or cancel it: a backup could miss them.`
      : `A redrive has moved messages out of ${names} meanwhile, which may be missing. Export to another file.`;
  throw new CliError(text, EXIT_FAILED);
}
