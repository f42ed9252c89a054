import { closeSync, createReadStream, fstatSync, openSync, readSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { CliError, EXIT_FAILED, EXIT_USAGE } from "@sluice/project/errors";
import { backupOf } from "../../client/backup.ts";
import { progressBar } from "../../progress.ts";
import { answer, type OnBroker } from "../on-broker.ts";
import { backupLineIn, checkHeader, isSettings } from "./backup-lines.ts";
import { Checkpoint } from "./checkpoint.ts";
import { askAboutEndpoints } from "./endpoints.ts";
import { linesOf } from "./lines.ts";
import { type RestoreState, Restoring, type Source } from "./restoring.ts";
import { type NumberedSettings, namesIn, targetsFirst } from "./settings-lines.ts";

const NAMES_MAX = 5;
/** Number of bytes at the end of a file that are searched for its last line. */
const END_BYTES = 200;

export interface ImportAllOptions {
  /** Keep queues and topics that the broker has already, and add the messages. */
  readonly merge?: boolean;
  /** Continue an import of the file that was stopped. */
  readonly resume?: boolean;
  /** Import HTTP endpoints without asking. */
  readonly yes?: boolean;
}

/**
 * `sluice import --all`: restores a broker from the output of `sluice export --all`. Messages keep their ids, the time
 * of their send, their attempts and the rest of their delay; their retention begins anew. An import that is stopped and
 * resumed stores at most one batch twice.
 *
 * @param file path, or `-` for standard input.
 */
export async function importAll(on: OnBroker, file: string, options: ImportAllOptions): Promise<number> {
  const source = open(on, file, options);
  const bar = file === "-" ? null : progressBar(on.surroundings, "bytes");
  const merges = options.merge === true || source.begun?.merges === true;
  const restoring = new Restoring(on, file, source, bar, merges);
  const settings: NumberedSettings[] = [];
  let isSettled = false;
  let number = 0;
  let empty = 0;
  /** Number of messages that the last line states; `null` before that line. */
  let stated: number | null = null;
  try {
    for await (const text of linesOf(source.input)) {
      number += 1;
      restoring.count(text);
      if (number === 1) {
        checkHeader(text, file);
        continue;
      }
      if (text.trim() === "") {
        empty += 1;
        continue;
      }
      const place = `${file}:${number}`;
      if (stated !== null) throw new CliError(`${place}: this line stands behind the last one.`, EXIT_FAILED);
      const isDone = number <= (source.begun?.lines ?? 0);
      // Settings are read again in a resumed import, because they define the names of the backup's queues.
      if (isDone && isSettled) continue;
      const line = backupLineIn(text, place);
      if (isSettings(line)) {
        if (isSettled)
          throw new CliError(`${place}: this line has to stand before all messages.`, EXIT_FAILED);
        settings.push({ line, number });
        continue;
      }
      if (!isSettled) {
        const left = settings.filter((one) => one.number > (source.begun?.lines ?? 0));
        const ordered = await checkedSettings(on, file, left, merges || source.begun !== null);
        // Before any change, so that the user sees all endpoints of the backup.
        const lines = ordered.map((one) => one.line);
        await askAboutEndpoints(on, lines, options.yes === true);
        await restoring.settle(settings, ordered);
        isSettled = true;
      }
      if ("end" in line) stated = line.end.messages;
      if (!isDone) await restoring.take(line, number);
    }
    await restoring.end(number);
  } finally {
    bar?.stop();
  }
  source.checkpoint?.remove();
  // All lines are messages except the first one, the last one, the settings and empty ones.
  const messages = number - 2 - settings.length - empty;
  if (stated !== messages) {
    const counts = `its last line says ${stated} messages, and it has ${messages}`;
    throw new CliError(`${file} is not as it was exported: ${counts}. ${restoring.words}`, EXIT_FAILED);
  }
  answer(on, restoring.figures, { words: restoring.words });
  return 0;
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
  if (!isComplete(descriptor)) {
    closeSync(descriptor);
    const text = `${file} ends in the middle: its export was stopped. "sluice export --all --resume" goes on with it.`;
    throw new CliError(text, EXIT_FAILED);
  }
  const { size } = fstatSync(descriptor);
  return { input: createReadStream(path, { fd: descriptor, start: 0 }), size, begun, checkpoint };
}

/** Whether a file ends with the last line of a complete backup. */
function isComplete(descriptor: number): boolean {
  const { size } = fstatSync(descriptor);
  const end = Buffer.alloc(Math.min(END_BYTES, size));
  readSync(descriptor, end, 0, end.length, size - end.length);
  // A line that was cut off lacks the outer brace at least.
  return /^\{"end":\{.*\}\}$/.test(end.toString("utf8").trimEnd().split("\n").at(-1) ?? "");
}

/**
 * Sorts settings into the order in which they are restored.
 *
 * @param merges whether the broker may have some of them already.
 * @throws CliError for settings that cannot be restored together, and without `merges` for those that the broker has.
 */
async function checkedSettings(
  { client }: OnBroker,
  file: string,
  settings: readonly NumberedSettings[],
  merges: boolean,
): Promise<NumberedSettings[]> {
  if (settings.length === 0) return [];
  const has = await backupOf(client);
  const queues = new Set(has.queues.map(({ name }) => name));
  const targets = has.topicSubscriptions.map(({ target }) => target);
  const there = new Set([...queues, ...has.topics.map(({ arn }) => arn), ...targets]);
  const both = [...new Set(settings.flatMap(({ line }) => namesIn(line)))].filter((name) => there.has(name));
  if (both.length === 0 || merges) return targetsFirst(settings, queues, file);
  const more = both.length > NAMES_MAX ? ` and ${both.length - NAMES_MAX} more` : "";
  const names = both.slice(0, NAMES_MAX).join(", ") + more;
  throw new CliError(
    `The broker has these of the backup already: ${names}. --merge keeps them as they are, and adds the messages.`,
    EXIT_FAILED,
  );
}
