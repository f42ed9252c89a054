import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { WholeMessageView } from "@sluice/gateway/views";
import { CliError, EXIT_FAILED, EXIT_USAGE } from "@sluice/project/errors";
import { removePath } from "@sluice/project/folders";
import { afterDelete, plural, size } from "@sluice/protocol/words";
import {
  actOnMany,
  type BulkAction,
  deleteMessage,
  messageOf,
  planMany,
  type ResendChange,
  resendMessage,
  retryMessage,
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

/** `sluice messages resend`: sends a copy. The message stays. */
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

/** Sends what somebody makes of the body in an editor. What cannot be sent is kept: it may have taken an hour. */
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
  const shown = contentType === "json" ? laidOut(text) : text;
  const edited = edit(shown, editor, message, on);
  // A user most often gives up so.
  if (edited.text === shown) {
    edited.discard();
    on.printer.warn("The body is as it was: nothing was sent.");
    return 0;
  }
  try {
    const change = changeOf(Buffer.from(edited.text), options.contentType ?? contentType);
    const isJson = change.contentType === "json" && change.text !== undefined;
    const packed = isJson ? { ...change, text: compact(change.text) } : change;
    const code = await sendAgain(on, queue, id, options, packed);
    edited.discard();
    return code;
  } catch (error) {
    on.printer.warn(`What you wrote is kept: --file ${edited.file} takes it.`);
    throw error;
  }
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
 * Names the editor: that of VISUAL or EDITOR, else the one that every system of that kind has.
 *
 * @throws CliError with `EXIT_USAGE` where no editor is named, and there is no terminal for the default one.
 */
export function editorOf(
  { env: { VISUAL, EDITOR }, isInteractive }: Pick<Surroundings, "env" | "isInteractive">,
  platform: NodeJS.Platform = process.platform,
): string {
  if (VISUAL || EDITOR) return VISUAL || EDITOR || "";
  if (isInteractive) return platform === "win32" ? "notepad" : "vi";
  const text =
    "There is no terminal to edit in: --body TEXT or --file PATH is the new body, or EDITOR names an editor.";
  throw new CliError(text, EXIT_USAGE);
}

/** An edited text, and the file that has it until it is discarded. */
interface Edited {
  readonly text: string;
  readonly file: string;
  discard(): void;
}

/** Opens a text in an editor. */
function edit(
  text: string,
  editor: string,
  { id, contentType }: WholeMessageView,
  { surroundings }: OnBroker,
): Edited {
  const folder = mkdtempSync(join(tmpdir(), "sluice-edit-"));
  const file = join(folder, `${id}.${contentType === "json" ? "json" : "txt"}`);
  try {
    writeFileSync(file, text, { mode: 0o600 });
    // A shell runs it, because the editor may be named with options: "code --wait".
    const { status, error } = spawnSync(`${editor} "${file}"`, {
      shell: true,
      stdio: "inherit",
      env: surroundings.env,
    });
    if (status !== 0) {
      throw new CliError(
        `"${editor}" has failed${error === undefined ? "" : `: ${error.message}`}.`,
        EXIT_FAILED,
      );
    }
    const edited = takenBack(text, readFileSync(file, "utf8"));
    return { text: edited, file, discard: () => removePath(folder) };
  } catch (error) {
    removePath(folder);
    throw error;
  }
}

/** An edited text as its user means it: editors add a line end at the end of a file, and those of Windows make all new. */
export function takenBack(text: string, edited: string): string {
  const ends = text.includes("\r\n") ? edited : edited.replaceAll("\r\n", "\n");
  return text.endsWith("\n") ? ends : ends.replace(/\r?\n$/, "");
}

/** Selection of the messages of a command that can act on many. */
export interface ManyOptions extends WhichMessages {
  readonly limit?: number;
  /** Say how many messages it would be done to, show the first, and do nothing. */
  readonly dryRun?: boolean;
  /** Do it without asking. */
  readonly force?: boolean;
}

/** `sluice messages retry`: ends a delay or a lease now; of many messages the delays. */
export async function retry(
  on: OnBroker,
  queue: string,
  ids: readonly string[],
  options: ManyOptions,
): Promise<number> {
  const id = onlyOf(ids, options);
  if (id === null) return many(on, queue, "retry", ids, options);
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
  const id = onlyOf(ids, options);
  if (id === null) return many(on, queue, "delete", ids, options);
  const message = await messageOf(on.client, queue, id);
  const what = `Deletes message ${message.id} of queue ${queue}, ${message.state}, ${size(message.bytes)}.`;
  if (options.force !== true) await confirmDelete(on, queue, what);
  const deleted = await deleteMessage(on.client, queue, message.ref);
  answer(on, deleted, { words: `Deleted ${message.id} of queue ${queue}.` });
  return 0;
}

/** Has the user confirm that messages are deleted, and says whether they come back. */
async function confirmDelete(on: OnBroker, queue: string, what: string): Promise<void> {
  const { settings } = await queueNamed(on.client, queue);
  // Absent from an older broker.
  const left = afterDelete(settings.finishedMessages ?? 0);
  await confirm(on, { name: queue, what: `${what} ${left}`, force: false, isFinal: false });
}

/** Returns the id of a command line that names one message and nothing else; `null` for any other. */
function onlyOf(ids: readonly string[], { state, filter, limit, dryRun }: ManyOptions): string | null {
  const [id, ...others] = ids;
  const isSelection = state !== undefined || filter !== undefined || limit !== undefined || dryRun === true;
  return id === undefined || others.length > 0 || isSelection ? null : id;
}

/** Does something to the messages that a command line selects, after it has counted them. */
async function many(
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
  const request = {
    filter: filterOf(options),
    ...(ids.length === 0 ? {} : { ids }),
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
  if (action === "delete" && plan.count > 0 && !force)
    await confirmDelete(on, queue, `Deletes ${selected} of queue ${queue}.`);
  const bar = progressBar(on.surroundings, "messages");
  const says = (count: number) =>
    action === "retry"
      ? `Due now: ${plural(count, "message")}.`
      : `Deleted ${plural(count, "message")} of queue ${queue}.`;
  let done = 0;
  try {
    await actOnMany(on.client, queue, action, request, (soFar) => {
      done = soFar;
      bar.update(soFar, plan.count);
    });
  } catch (error) {
    // What was done before is on disk.
    if (done > 0) on.printer.warn(says(done));
    throw error;
  } finally {
    bar.stop();
  }
  answer(on, { queue, [action === "retry" ? "due" : "deleted"]: done }, { words: says(done) });
  return 0;
}
