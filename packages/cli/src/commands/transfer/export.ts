import { existsSync } from "node:fs";
import { resolve } from "node:path";
import type { WholeMessageView } from "@sluice/gateway/views";
import { CliError, EXIT_FAILED, EXIT_USAGE } from "@sluice/project/errors";
import { plural } from "@sluice/protocol/words";
import { PAGE_MESSAGES_MAX, pageOfWholeMessages } from "../../client/messages.ts";
import { progressBar } from "../../progress.ts";
import { filterOf, type WhichMessages } from "../messages/look.ts";
import { answer, type OnBroker } from "../on-broker.ts";
import { Checkpoint } from "./checkpoint.ts";
import { hasLines, toFile, toPrinter } from "./sink.ts";

export interface ExportOptions extends WhichMessages {
  /** Path of the file. Default: standard output. */
  readonly output?: string;
  /** Whether to continue an export into `output` that was stopped. */
  readonly resume?: boolean;
}

/** Progress of an export, kept in its checkpoint. */
interface ExportState {
  readonly queue: string;
  readonly filter: string;
  /** `null` before the first page is written. */
  readonly cursor: string | null;
  readonly messages: number;
}

/**
 * `sluice export`: writes messages in any state as lines of JSON. Nothing is leased or counted. Messages sent,
 * delivered or deleted meanwhile may be included or not.
 */
export async function exportMessages(on: OnBroker, queue: string, options: ExportOptions): Promise<number> {
  const filter = filterOf(options);
  const { cursor: from, messages: before, sink } = open(on, queue, filter, options);
  if (sink === null) {
    on.printer.warn(`${options.output} is complete: there is no export to continue.`);
    return 0;
  }
  const bar = progressBar(on.surroundings, "messages");
  let cursor = from;
  let exported = before;
  try {
    do {
      const page = await pageOfWholeMessages(on.client, queue, { filter, max: PAGE_MESSAGES_MAX, cursor });
      if (cursor === null) sink.keep({ queue, filter, cursor, messages: exported });
      sink.write(page.messages.map((message) => `${JSON.stringify(lineOf(message))}\n`).join(""));
      exported += page.messages.length;
      cursor = page.cursor;
      if (cursor !== null) sink.keep({ queue, filter, cursor, messages: exported });
      bar.update(page.searched, page.of);
    } while (cursor !== null);
  } finally {
    bar.stop();
  }
  sink.end();
  const words = `Exported ${plural(exported, "message")} of ${queue}.`;
  if (options.output === undefined) on.printer.warn(words);
  else answer(on, { queue, exported, file: options.output }, { words });
  return 0;
}

function open(on: OnBroker, queue: string, filter: string, { output, resume = false }: ExportOptions) {
  const begin = { cursor: null as string | null, messages: 0 };
  if (output === undefined) {
    if (resume) throw new CliError("--resume goes on with a file: name it with --output.", EXIT_USAGE);
    return { ...begin, sink: toPrinter(on.printer) };
  }
  const file = resolve(on.surroundings.cwd, output);
  const checkpoint = new Checkpoint<ExportState & { readonly bytes: number }>(`${file}.sluice-export`);
  if (!resume) {
    if (existsSync(file)) {
      const text = `${output} exists. --resume goes on with an export that was stopped; else name another file.`;
      throw new CliError(text, EXIT_FAILED);
    }
    checkpoint.remove();
    return { ...begin, sink: toFile(file, "wx", 0, checkpoint) };
  }
  if (!checkpoint.exists) {
    return { ...begin, sink: hasLines(file) ? null : toFile(file, "w", 0, checkpoint) };
  }
  const state = checkpoint.read();
  if (state.queue !== queue || state.filter !== filter) {
    const other = state.filter === "" ? state.queue : `${state.queue} with the filter ${state.filter}`;
    throw new CliError(`${output} is an export of ${other}, and can only be continued as such.`, EXIT_USAGE);
  }
  const sink = toFile(file, "r+", state.bytes, checkpoint);
  return { cursor: state.cursor, messages: state.messages, sink };
}

/** Makes the line of a message, with the members that an import uses and its origin. Empty members are left out. */
function lineOf(message: WholeMessageView) {
  const { id, state, attempts, sentAt, contentType, text, base64, group, attributes, from, trace } = message;
  return {
    id,
    state,
    attempts,
    sentAt,
    contentType,
    ...(text === null ? { base64 } : { text }),
    ...(group === null ? {} : { group }),
    ...(Object.keys(attributes).length === 0 ? {} : { attributes }),
    ...(from === null ? {} : { from }),
    ...(trace === undefined ? {} : { trace }),
  };
}
