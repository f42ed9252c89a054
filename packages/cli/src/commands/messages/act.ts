import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { WholeMessageView } from "@sluice/gateway/views";
import { CliError, EXIT_FAILED, EXIT_USAGE } from "@sluice/project/errors";
import { size } from "@sluice/protocol/words";
import {
  deleteMessage,
  messageOf,
  type ResendChange,
  resendMessage,
  retryMessage,
} from "../../client/messages.ts";
import type { Surroundings } from "../../surroundings.ts";
import { answer, confirm, type OnBroker } from "../on-broker.ts";
import { type BodyOptions, bodyIn, bytesOf, jsonIn, type SentType } from "./body.ts";

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
  const { to, contentType, delaySecs } = options;
  const body = await newBody(on, queue, id, options);
  if (body === UNCHANGED) {
    on.printer.warn("The body is as it was: nothing was sent.");
    return 0;
  }
  const sent = await resendMessage(on.client, queue, id, {
    ...(to === undefined ? {} : { to }),
    ...(delaySecs === undefined ? {} : { delaySeconds: delaySecs }),
    ...(contentType === undefined ? {} : { contentType }),
    ...body,
  });
  answer(on, sent, { words: `Sent ${sent.id} to ${sent.queue}.` });
  return 0;
}

/** Result of an edit without a change, by which a user most often gives up. */
const UNCHANGED = "unchanged";

async function newBody(
  on: OnBroker,
  queue: string,
  id: string,
  options: ResendOptions,
): Promise<Pick<ResendChange, "body" | "contentType"> | typeof UNCHANGED> {
  const bytes = await bytesOf(options, on.surroundings);
  if (options.edit !== true) return bytes === null ? {} : changeOf(bytes, options.contentType ?? "json");
  if (bytes !== null) throw new CliError("Either --edit, or --body and --file.", EXIT_USAGE);
  const editor = editorOf(on.surroundings);
  const message = await messageOf(on.client, queue, id);
  const { contentType, text } = message;
  if (text === null || contentType === "v8") {
    throw new CliError(`A body of ${contentType} is not text to edit: --file PATH replaces it.`, EXIT_FAILED);
  }
  const shown = contentType === "json" ? JSON.stringify(JSON.parse(text), null, 2) : text;
  const edited = edit(shown, editor, message, on);
  return edited === shown ? UNCHANGED : changeOf(Buffer.from(edited), options.contentType ?? contentType);
}

function changeOf(bytes: Uint8Array, contentType: SentType): Pick<ResendChange, "body" | "contentType"> {
  const body = bodyIn(bytes, contentType);
  if ("base64" in body) return { contentType, body: body.base64 };
  return { contentType, body: contentType === "json" ? jsonIn(body.text) : body.text };
}

/** @throws CliError with `EXIT_USAGE` where no editor is named, and there is no terminal for the default one. */
function editorOf({ env: { VISUAL, EDITOR }, isInteractive }: Surroundings): string {
  if (VISUAL || EDITOR) return VISUAL || EDITOR || "";
  if (isInteractive) return "vi";
  const text =
    "There is no terminal to edit in: --body TEXT or --file PATH is the new body, or EDITOR names an editor.";
  throw new CliError(text, EXIT_USAGE);
}

/** Opens a text in an editor. */
function edit(
  text: string,
  editor: string,
  { id, contentType }: WholeMessageView,
  { surroundings }: OnBroker,
): string {
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
    const edited = readFileSync(file, "utf8");
    // Editors add a line end at the end of a file.
    return text.endsWith("\n") ? edited : edited.replace(/\n$/, "");
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** `sluice messages retry`: ends a delay or a lease now. */
export async function retry(on: OnBroker, queue: string, id: string): Promise<number> {
  const retried = await retryMessage(on.client, queue, id);
  const words = retried.wasDue ? `${retried.id} was due already.` : `${retried.id} is due now.`;
  answer(on, retried, { words });
  return 0;
}

/** `sluice messages delete`: deletes a message. */
export async function remove(on: OnBroker, queue: string, id: string, force: boolean): Promise<number> {
  const message = await messageOf(on.client, queue, id);
  const what = `Deletes message ${message.id} of queue ${queue}, ${message.state}, ${size(message.bytes)}.`;
  await confirm(on, { name: queue, what, force });
  const deleted = await deleteMessage(on.client, queue, message.ref);
  answer(on, deleted, { words: `Deleted ${message.id} of queue ${queue}.` });
  return 0;
}
