import type { MessageView, WholeMessageView } from "@sluice/gateway/views";
import { type Cell, facts, type Look, table } from "@sluice/local/report/table";
import { distance } from "@sluice/local/report/words";
import { plural, printable, size } from "@sluice/protocol/words";
import {
  errorsOf,
  type MessagePage,
  messageOf,
  PAGE_MESSAGES_MAX,
  pageOfMessages,
  whyOfQueue,
} from "../../client/messages.ts";
import { queueNamed } from "../../client/queues.ts";
import { answer, type OnBroker } from "../on-broker.ts";
import { groupLines } from "./errors.ts";
import { laidOut } from "./json-layout.ts";

/** Number of messages that are shown when the command line names no limit. */
const LIMIT_DEFAULT = 20;

/** Selection of messages. */
export interface WhichMessages {
  readonly state?: string;
  readonly filter?: string;
}

export interface PeekOptions extends WhichMessages {
  readonly limit?: number;
  readonly cursor?: string;
  /** Whether the messages are counted by their last errors, instead of a list. */
  readonly errors?: boolean;
}

/** Makes the filter of a command line, with `--state` as one of its terms. */
export function filterOf({ state, filter = "" }: WhichMessages): string {
  return state === undefined ? filter : `state:${state} ${filter}`.trim();
}

/** `sluice messages peek`: lists messages in any state. Nothing is leased or counted. */
export async function peek(on: OnBroker, queue: string, options: PeekOptions): Promise<number> {
  if (options.errors === true) return countErrors(on, queue, filterOf(options));
  const [found, { now, settings }] = await Promise.all([
    search(on, queue, options),
    queueNamed(on.client, queue),
  ]);
  const { messages, cursor, searched, of, finished = 0 } = found;
  const isOfFinished = filterOf(options).includes("state:finished");
  if (on.json || messages.length > 0) answer(on, found, { text: messageTable(messages, now, on.printer) });
  if (on.json) return 0;
  const count = `${searched.toLocaleString("en")} of ${of.toLocaleString("en")}`;
  if (cursor !== null)
    on.printer.warn(`There is more: --cursor ${cursor} goes on. Searched ${count} messages.`);
  else if (messages.length === 0 && of > 0) on.printer.warn(`None of ${plural(of, "message")} fits.`);
  else if (messages.length === 0)
    on.printer.warn(isOfFinished ? noneFinished(queue, settings.finishedMessages) : `${queue} is empty.`);
  if (messages.length === 0 && finished > 0 && !isOfFinished)
    on.printer.warn(`--state finished lists the last ${plural(finished, "finished message")}.`);
  return 0;
}

/** @param max most finished messages that the queue keeps. */
function noneFinished(queue: string, max: number): string {
  return max > 0
    ? `${queue} has no finished messages. It keeps the bodies of the last ${max.toLocaleString("en")}.`
    : `${queue} keeps no bodies of finished messages: "finished" of [sluice.queues.${queue}] says how many.`;
}

async function countErrors(on: OnBroker, queue: string, filter: string): Promise<number> {
  const counts = await errorsOf(on.client, queue, filter);
  const lines = groupLines(counts);
  if (on.json || lines.length > 0) answer(on, counts, { text: lines.join("\n") });
  else on.printer.warn(`No error is known of ${plural(counts.matched, "message")} in ${queue}.`);
  return 0;
}

/** Fetches up to `limit` messages, in as many requests as that takes. */
async function search(on: OnBroker, queue: string, options: PeekOptions): Promise<MessagePage> {
  const { limit = LIMIT_DEFAULT } = options;
  const filter = filterOf(options);
  const messages: MessageView[] = [];
  let cursor = options.cursor ?? null;
  for (;;) {
    const max = Math.min(limit - messages.length, PAGE_MESSAGES_MAX);
    const page = await pageOfMessages(on.client, queue, { filter, max, cursor });
    messages.push(...page.messages);
    cursor = page.cursor;
    if (cursor === null || messages.length >= limit) return { ...page, messages };
  }
}

/**
 * Formats messages as a table. It has a column for their last errors if any of them has one.
 *
 * @param now current time of their queue, as ISO 8601.
 */
export function messageTable(messages: readonly MessageView[], now: string, look: Look): string {
  const hasErrors = messages.some(({ lastError }) => lastError != null);
  const rows = messages.map((message) => rowOf(message, now, hasErrors));
  return table([...COLUMNS, ...(hasErrors ? ["error"] : []), "body"], rows, look);
}

const COLUMNS = ["id", "state", "attempts", "sent", "size", "why"];

function rowOf(
  { id, state, attempts, attemptsBefore, sentAt, bytes, why, lastError, text, contentType }: MessageView,
  now: string,
  hasErrors: boolean,
): Cell[] {
  const body = text === null ? `(${contentType})` : oneLine(text);
  const error: Cell[] = hasErrors ? [{ text: oneLine(lastError ?? ""), colour: "red" }] : [];
  return [
    id,
    state,
    attemptsText(attempts, attemptsBefore),
    distance(sentAt, now),
    size(bytes),
    why.reason,
    ...error,
    body,
  ];
}

/** Formats the attempts. A dead letter that was not delivered here has those of the queue it came from: `3 before`. */
function attemptsText(attempts: number, before = 0): string {
  return attempts === 0 && before > 0 ? `${before} before` : `${attempts}`;
}

/** Formats a text for a line of a table. */
export function oneLine(text: string): string {
  return printable(text.replaceAll(/\s+/g, " ").trim());
}

/** `sluice messages show`: shows a message with all of its body. */
export async function show(on: OnBroker, queue: string, id: string): Promise<number> {
  const [message, { now }] = await Promise.all([
    messageOf(on.client, queue, id),
    queueNamed(on.client, queue),
  ]);
  answer(on, message, { text: `${factsOf(message, now, on.printer)}\n\n${bodyOf(message)}` });
  return 0;
}

function factsOf(message: WholeMessageView, now: string, look: Look): string {
  const { id, state, why, attempts, sentAt, dueAt, leasedUntil, keptUntil, contentType, bytes, group, from } =
    message;
  const { lastError = null, end, trace } = message;
  const time = (at: string) => `${at} (${distance(at, now)})`;
  return facts(
    [
      ["id", id],
      ["state", state],
      ["why", printable(why.text)],
      ["attempts", attemptsText(attempts, message.attemptsBefore)],
      ["last error", lastError === null ? null : printable(lastError)],
      ["sent", time(sentAt)],
      ["due", dueAt === null ? null : time(dueAt)],
      ["leased until", leasedUntil === null ? null : time(leasedUntil)],
      ["kept until", keptUntil === null ? null : time(keptUntil)],
      ["finished", end === undefined ? null : time(end.at)],
      ["from", from],
      ["group", group === null ? null : printable(group)],
      ["attributes", attributesOf(message)],
      ["trace", trace === undefined ? null : (trace.url ?? trace.id)],
      ["body", `${contentType}, ${size(bytes)}`],
    ],
    look,
  );
}

function attributesOf({ attributes }: WholeMessageView): string | null {
  const lines = Object.entries(attributes).map(
    ([name, { type, value }]) => `${name} (${type}): ${printable(value)}`,
  );
  return lines.length === 0 ? null : lines.join("\n");
}

/** Formats a body: JSON indented, other text as it is, `v8` as its value, bytes in base64. */
function bodyOf({ contentType, text, base64, value }: WholeMessageView): string {
  if (text === null) return value === undefined ? (base64 ?? "") : printable(value);
  return printable(contentType === "json" ? laidOut(text) : text);
}

/** `sluice messages why`: explains why a message, or without an id the queue, is not delivered. */
export async function why(on: OnBroker, queue: string, id: string | undefined): Promise<number> {
  if (id !== undefined) {
    const message = await messageOf(on.client, queue, id);
    const error = message.end?.error ?? null;
    const lines = [message.why.text, ...(error === null ? [] : [`Last error: ${error}`])];
    answer(on, message.why, { text: printable(lines.join("\n")) });
    return 0;
  }
  const reasons = await whyOfQueue(on.client, queue);
  answer(on, reasons, { text: [reasons, ...reasons.also].map(({ text }) => printable(text)).join("\n") });
  return 0;
}
