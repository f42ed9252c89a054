import {
  type HistoryEvent,
  type HistoryKind,
  type MessageElsewhere,
  type StoryReply,
  traceParentIn,
} from "@sluice/protocol";
import type { QueueDirectory } from "../../account/queue-directory.ts";
import { type TraceView, traceLink } from "../trace-view.ts";
import { type EventView, eventView, gapView, pastEvents, type StoryGapView } from "./history-view.ts";

/** Most queues that a story is followed through in each direction. */
const QUEUES_MAX = 8;

/** History of a message, over all queues that it was in. */
export interface StoryView {
  /** Queue and id of the message in each queue that it was in, the first one first. */
  readonly messages: readonly MessageElsewhere[];
  /** Oldest first. */
  readonly events: readonly EventView[];
  readonly gaps: readonly StoryGapView[];
  /** Trace of the message. Absent for none, and where it is not known any more. */
  readonly trace?: Pick<TraceView, "id" | "url">;
}

/** Part of a story that happened in one queue. */
interface Chapter {
  readonly message: MessageElsewhere;
  readonly reply: StoryReply;
}

/** Tells the story of a message from its first send on, through dead-letter queues and move tasks. */
export async function tellStory(directory: QueueDirectory, message: MessageElsewhere): Promise<StoryView> {
  const first = await chapterOf(directory, message);
  const chapters = first === null ? [] : [first];
  const known = new Set([keyOf(message)]);
  const follow = async (towards: "before" | "after") => {
    let from = first;
    for (let count = 0; count < QUEUES_MAX && from !== null; count++) {
      const next: MessageElsewhere | null = from.reply[towards];
      if (next === null || known.has(keyOf(next))) return;
      known.add(keyOf(next));
      from = await chapterOf(directory, next);
      if (from !== null && towards === "before") chapters.unshift(from);
      else if (from !== null) chapters.push(from);
    }
  };
  await follow("before");
  await follow("after");
  const events = withPast(chapters.flatMap(({ reply }) => reply.events));
  const gaps = chapters.flatMap(({ reply }) => reply.gaps).map(gapView);
  const trace = await traceOf(directory, chapters);
  return {
    messages: chapters.map((chapter) => chapter.message),
    events,
    gaps: gaps.flatMap((gap) => withoutSend(gap, events)),
    ...(trace === null ? {} : { trace }),
  };
}

/** Kinds of events after which a message is in no queue. */
const GONE: ReadonlySet<HistoryKind> = new Set(["acked", "deleted", "dropped", "expired", "purged"]);

/** Finds the trace of a message in its events, else in the message itself, in the queue where it was last. */
async function traceOf(
  { queue, traceUrl = null }: QueueDirectory,
  chapters: readonly Chapter[],
): Promise<NonNullable<StoryView["trace"]> | null> {
  const noted = chapters.findLast(({ reply }) => reply.traceId !== undefined)?.reply.traceId;
  if (noted !== undefined) return traceLink(noted, traceUrl);
  const last = chapters.at(-1);
  const end = last?.reply.events.at(-1)?.kind;
  // A search for a message that is not there would go through the whole queue.
  if (last === undefined || (end !== undefined && GONE.has(end))) return null;
  const { message } = last;
  const { messages } = await queue(message.queue).look(message.queue, { max: 1, only: [message.id] });
  const found = traceParentIn(messages[0]?.trace);
  return found === null ? null : traceLink(found.traceId, traceUrl);
}

/** Removes from a gap the send, where the message has brought it along, and the time before the send. */
function withoutSend(gap: StoryGapView, events: readonly EventView[]): StoryGapView[] {
  const sent = events.find(({ kind, queue }) => kind === "accepted" && queue === gap.queue);
  if (gap.kinds === null || sent === undefined) return [gap];
  const kinds = gap.kinds.filter((kind) => kind !== "accepted");
  const since = gap.since !== null && gap.since < sent.at ? sent.at : gap.since;
  return kinds.length === 0 ? [] : [{ ...gap, kinds, since }];
}

/** `null` for a queue that is gone. */
async function chapterOf(
  { account, queue }: QueueDirectory,
  message: MessageElsewhere,
): Promise<Chapter | null> {
  if ((await account.findByName(message.queue)) === null) return null;
  return { message, reply: await queue(message.queue).story(message.queue, message.id) };
}

/** Puts the events in order, with those that only the message carries: the queues have forgotten them. */
function withPast(events: readonly HistoryEvent[]): EventView[] {
  const views = events.map(eventView);
  const past = events.findLast((event) => event.past !== null)?.past ?? null;
  const missing = past === null ? [] : pastEvents(past).filter((event) => !views.some(isSameAs(event)));
  // Events of one moment stay in the order of their queues: sorting is stable.
  return [...missing, ...views].sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0));
}

function isSameAs({ kind, queue, ids: [id] }: EventView) {
  return (other: EventView) => other.kind === kind && other.queue === queue && other.ids[0] === id;
}

function keyOf({ queue, id }: MessageElsewhere): string {
  return `${id} ${queue}`;
}
