import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CliError, EXIT_FAILED, EXIT_NOT_FOUND, EXIT_USAGE } from "@sluice/project/errors";
import { removePath } from "@sluice/project/folders";
import { afterDelete, plural, size } from "@sluice/protocol/words";
import {
  actOnMany,
  type BulkAction,
  deleteMessage,
  messageOf,
  missingOf,
  planMany,
  type ResendChange,
  resendMessage,
  retryMessage,
  wholeIdsOf,
} from "../../client/messages.ts";
import { queueNamed } from "../../client/queues.ts";
import { progressBar } from "../../progress.ts";
import type { Surroundings } from "../../surroundings.ts";
import { answer, confirm, type OnBroker } from "../on-broker.ts";
import { type BodyOptions, bodyIn, bytesOf, type SentType } from "./body.ts";
import { compact, laidOut } from "./json-layout.ts";
import { filterOf, messageTable, type WhichMessages } from "./look.ts";

export interface ResendOptions extends BodyOptions {
  readonly to?: string;
  /** Opens the body in an editor first. */
  readonly edit?: boolean;
  readonly contentType?: SentType;
  readonly delaySecs?: number;
}

/** `sluice messages resend`: sends a copy of a message. The message stays. */
export async function resend(
  on: OnBroker,
  queue: string,
  id: string,
  options: ResendOptions,
): Promise<number> {
  if (options.edit === true) return resendEdited(on, queue, id, options);
  const bytes = await bytesOf(options, on.surroundings);
  const change = bytes === null ? {} : changeOf(bytes, options.contentType ?? "json");
  return sendAgain(on, queue, id, options, change);
}

type NewBody = Pick<ResendChange, "body" | "text" | "contentType">;

/** Lets the user edit the body, and sends it. A body that cannot be sent is kept in its file. */
async function resendEdited(
  on: OnBroker,
  queue: string,
  id: string,
  options: ResendOptions,
): Promise<number> {
  if (options.body !== undefined || options.file !== undefined)
    throw new CliError("Either --edit, or --body and --file.", EXIT_USAGE);
  const editor = editorOf(on.surroundings);
  const message = await messageOf(on.client, queue, id);
  const { contentType, text } = message;
  if (text === null || contentType === "v8") {
    throw new CliError(`A body of ${contentType} is not text to edit: --file PATH replaces it.`, EXIT_FAILED);
  }
  const sentType = options.contentType ?? contentType;
  const shown = contentType === "json" && sentType === "json" ? laidOut(text) : text;
  const edited = edit(shown, editor, sentType, on);
  // Users cancel by leaving the text unchanged.
  if (edited.text === shown) {
    edited.discard();
    on.printer.warn("The body is as it was: nothing was sent.");
    return 0;
  }
  let code: number;
  try {
    const change = changeOf(Buffer.from(edited.text), sentType);
    // The line breaks of the layout were for the editor only.
    const isJson = change.contentType === "json" && change.text !== undefined;
    const compacted = isJson ? { ...change, text: compact(change.text) } : change;
    code = await sendAgain(on, queue, id, options, compacted);
  } catch (error) {
    edited.keep();
    const args = `--content-type ${sentType} --file "${edited.file}"`;
    on.printer.warn(`What you wrote is kept. "messages resend" and "messages send" take it: ${args}`);
    throw error;
  }
  edited.discard();
  return code;
}

async function sendAgain(
  on: OnBroker,
  queue: string,
  id: string,
  { to, delaySecs, contentType }: ResendOptions,
  change: NewBody,
): Promise<number> {
  const sent = await resendMessage(on.client, queue, id, {
    ...(to === undefined ? {} : { to }),
    ...(delaySecs === undefined ? {} : { delaySeconds: delaySecs }),
    ...(contentType === undefined ? {} : { contentType }),
    ...change,
  });
  answer(on, sent, { words: `Sent ${sent.id} to ${sent.queue}.` });
  return 0;
}

function changeOf(bytes: Uint8Array, contentType: SentType): NewBody {
  const body = bodyIn(bytes, contentType);
  return "base64" in body ? { contentType, body: body.base64 } : { contentType, ...body };
}

/**
 * Returns the command of the editor: VISUAL, else EDITOR, else the editor that the platform always has.
 *
 * @throws CliError with `EXIT_USAGE` where no editor is named, and there is no terminal for the default one.
 */
export function editorOf(
  { env: { VISUAL, EDITOR }, isInteractive }: Pick<Surroundings, "env" | "isInteractive">,
  platform: NodeJS.Platform = process.platform,
): string {
  const named = VISUAL || EDITOR;
  if (named) return named;
  if (isInteractive) return platform === "win32" ? "notepad" : "vi";
  const text =
    "There is no terminal to edit in: --body TEXT or --file PATH is the new body, or EDITOR names an editor.";
  throw new CliError(text, EXIT_USAGE);
}

/** An edited text, and its file. */
interface Edited {
  readonly text: string;
  readonly file: string;
  /** Writes the text to the file without what the editor has added. */
  keep(): void;
  /** Deletes the file. */
  discard(): void;
}

/** Opens a text in an editor. Throws a `CliError` if the editor fails, and keeps the file if it was changed. */
function edit(text: string, editor: string, contentType: SentType, { surroundings }: OnBroker): Edited {
  const folder = mkdtempSync(join(tmpdir(), "sluice-edit-"));
  const file = join(folder, contentType === "json" ? "message.json" : "message.txt");
  writeFileSync(file, text, { mode: 0o600 });
  // Run by a shell, because the editor may be named with options: "code --wait".
  const { status, error } = spawnSync(`${editor} "${file}"`, {
    shell: true,
    stdio: "inherit",
    env: surroundings.env,
  });
  const discard = () => removePath(folder);
  // An editor that removes the file has saved nothing.
  const isSaved = statSync(file, { throwIfNoEntry: false })?.isFile() === true;
  const saved = isSaved ? textIn(file) : text;
  if (status !== 0) {
    const why = error === undefined ? "" : `: ${error.message}`;
    const failed = `"${editor}" has failed${why}.`;
    if (saved !== text) throw new CliError(`${failed} What it has saved is kept: ${file}`, EXIT_FAILED);
    discard();
    throw new CliError(failed, EXIT_FAILED);
  }
  const edited = withOwnLineEnds(text, saved);
  return { text: edited, file, keep: () => writeFileSync(file, edited), discard };
}

/** Reads the saved file. Throws a `CliError` that names the file where it is not UTF-8. */
function textIn(file: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(readFileSync(file));
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    const text = `What the editor has saved is not UTF-8 text. It is kept: ${file}`;
    throw new CliError(`${text}\n--content-type bytes --file sends it as it is.`, EXIT_FAILED);
  }
}

/**
 * Restores line ends that editors change by themselves: many append one at the end of a file, and some on Windows
 * change all of them.
 */
export function withOwnLineEnds(original: string, edited: string): string {
  const ends = original.includes("\r\n") ? edited : edited.replaceAll("\r\n", "\n");
  return original.endsWith("\n") ? ends : ends.replace(/\r?\n$/, "");
}

/** Selection of the messages of a command that can act on many. */
export interface ManyOptions extends WhichMessages {
  readonly limit?: number;
  /** Only count the messages, and show the first ones. */
  readonly dryRun?: boolean;
  /** Do it without asking. */
  readonly force?: boolean;
}

/**
 * `sluice messages retry`: makes messages due now. For one message it ends the delay or the lease. For a selection it
 * ends only delays, because a message whose lease ends may be handled twice.
 */
export async function retry(
  on: OnBroker,
  queue: string,
  ids: readonly string[],
  options: ManyOptions,
): Promise<number> {
  const id = singleId(ids, options);
  if (id === null) return actOnSelection(on, queue, "retry", ids, options);
  const retried = await retryMessage(on.client, queue, id);
  const words = retried.wasDue ? `${retried.id} was due already.` : `${retried.id} is due now.`;
  answer(on, retried, { words });
  return 0;
}

/** `sluice messages delete`: deletes messages. */
export async function remove(
  on: OnBroker,
  queue: string,
  ids: readonly string[],
  options: ManyOptions,
): Promise<number> {
  const id = singleId(ids, options);
  if (id === null) return actOnSelection(on, queue, "delete", ids, options);
  const message = await messageOf(on.client, queue, id);
  const what = `Deletes message ${message.id} of queue ${queue}, ${message.state}, ${size(message.bytes)}.`;
  if (options.force !== true) await confirmDelete(on, queue, what);
  const deleted = await deleteMessage(on.client, queue, message.ref);
  answer(on, deleted, { words: `Deleted ${message.id} of queue ${queue}.` });
  return 0;
}

/** Asks the user to confirm a deletion, and says whether the messages can still be read and sent again. */
async function confirmDelete(on: OnBroker, queue: string, what: string): Promise<void> {
  const { settings } = await queueNamed(on.client, queue);
  // A broker of an older release has no such setting.
  const left = afterDelete(settings.finishedMessages ?? 0);
  await confirm(on, { name: queue, what: `${what} ${left}`, force: false, isFinal: false });
}

/** Returns the id where a command line names one message and nothing else; `null` for any other. */
function singleId(ids: readonly string[], { state, filter, limit, dryRun }: ManyOptions): string | null {
  const [id, ...others] = ids;
  const isSelection = state !== undefined || filter !== undefined || limit !== undefined || dryRun === true;
  return id === undefined || others.length > 0 || isSelection ? null : id;
}

/** Counts the selected messages, asks for confirmation where needed, and acts on them. */
async function actOnSelection(
  on: OnBroker,
  queue: string,
  action: BulkAction,
  ids: readonly string[],
  options: ManyOptions,
): Promise<number> {
  const { state, filter, limit, dryRun = false, force = false } = options;
  if (ids.length === 0 && state === undefined && filter === undefined) {
    throw new CliError("Say which messages: their ids, or --filter TERMS.", EXIT_USAGE);
  }
  // An unset variable of a shell gives an empty filter.
  if (filter?.trim() === "" && state === undefined && ids.length === 0)
    throw new CliError("The filter is empty, and would take all messages.", EXIT_USAGE);
  const wholeIds = await wholeIdsOf(on.client, queue, ids);
  const request = {
    filter: filterOf(options),
    ...(ids.length === 0 ? {} : { ids: wholeIds }),
    ...(limit === undefined ? {} : { limit }),
  };
  const plan = await planMany(on.client, queue, action, request);
  const selected = plural(plan.count, "message");
  if (dryRun) {
    const words = action === "retry" ? `${selected} would be due now.` : `${selected} would be deleted.`;
    if (!on.json && plan.messages.length > 0) {
      const { now } = await queueNamed(on.client, queue);
      on.printer.print(messageTable(plan.messages, now, on.printer));
    }
    answer(on, plan, { words });
    return 0;
  }
  const needsConfirmation = action === "delete" && !force;
  if (needsConfirmation && plan.count > 0)
    await confirmDelete(on, queue, `Deletes ${selected} of queue ${queue}.`);
  const bar = progressBar(on.surroundings, "messages");
  const doneText = (count: number) =>
    action === "retry"
      ? `Due now: ${plural(count, "message")}.`
      : `Deleted ${plural(count, "message")} of queue ${queue}.`;
  let done = 0;
  try {
    // No more messages are deleted than were confirmed, although others may match by now.
    const wanted = needsConfirmation ? { ...request, limit: plan.count } : request;
    if (plan.count > 0) {
      await actOnMany(on.client, queue, action, wanted, (soFar) => {
        done = soFar;
        bar.update(soFar, plan.count);
      });
    }
  } catch (error) {
    bar.stop();
    // The requests before the one that failed are done.
    if (done > 0) on.printer.warn(doneText(done));
    throw error;
  } finally {
    bar.stop();
  }
  answer(on, { queue, [action === "retry" ? "due" : "deleted"]: done }, { words: doneText(done) });
  // A retry does not count messages that were due already.
  const countsMissing = action === "delete" && filter === undefined && state === undefined;
  const missing = countsMissing ? missingOf(wholeIds, limit, done) : 0;
  if (missing === 0) return 0;
  const name = missing === 1 ? "names" : "name";
  on.printer.warn(`${plural(missing, "id")} of the command line ${name} no message that is in ${queue}.`);
  return EXIT_NOT_FOUND;
}
