import { plural } from "@sluice/protocol/words";
import { useRef } from "preact/hooks";
import {
  call,
  ifAllowed,
  messagePath,
  type QueueView,
  queuePath,
  Refused,
  type StoryView,
  type WholeMessageView,
} from "../api/call.ts";
import type { Live } from "../api/live-query.ts";
import { queueLink } from "../api/route.ts";
import { useLive } from "../api/use-live.ts";
import { useNow } from "../development/use-now.ts";
import { Page } from "../page/page.tsx";
import { moment, shortId } from "../text/format.ts";
import { CopyButton } from "../ui/copy-button.tsx";
import { Facts } from "../ui/facts.tsx";
import { Sentence } from "../ui/sentence.tsx";
import { Body } from "./body.tsx";
import { MessageActions } from "./message-actions.tsx";
import { StatePill } from "./message-list.tsx";
import { Neighbours } from "./neighbours.tsx";
import { SendAgain } from "./send-again.tsx";
import { Story } from "./story.tsx";

/** Data of the page that comes at once: the queue, and the events of the message. */
interface QueueAndStory {
  readonly queue: QueueView;
  /** `null` where the address does not hold the message's id. */
  readonly story: StoryView | null;
}

/** State of the search for the message: among a million it takes seconds, unless the message's place is known. */
type MessageSearch =
  | { readonly kind: "looking" }
  | { readonly kind: "gone" }
  | { readonly kind: "failed"; readonly text: string }
  | { readonly kind: "here"; readonly message: WholeMessageView };

/** Tones of states and ends; others are `busy`. */
const TONES: Readonly<Record<string, string>> = { leased: "good", acked: "good", dropped: "bad" };

/** Kinds of events after which a message is gone. */
const ENDS = ["acked", "deadLettered", "dropped", "redriven", "expired", "deleted", "purged"];
/** Those of them after which a queue may keep its body. */
const KEEPING_ENDS: readonly (string | undefined)[] = ["acked", "deleted", "expired", "dropped"];

const ID = /^[0-9a-f]{32}$/;

interface MessagePageProps {
  readonly queue: string;
  readonly id: string;
  /** Ref of the message in the list of messages; empty if the reader comes from elsewhere. */
  readonly handle: string;
}

/** One message: what it is, why it waits, what happened to it, and what can be done about it. */
export function MessagePage({ queue: name, id, handle }: MessagePageProps) {
  const { live, refresh } = useLive(`story ${name} ${id}`, () => askStory(name, id));
  const known = live.kind === "live" ? (live.answer.story?.events.length ?? 0) : 0;
  const events = useRef(known);
  events.current = known;
  // The message's place, as soon as that is known.
  const place = useRef(handle || id);
  const missedAt = useRef<number | null>(null);
  const looked = useLive(`message ${name} ${id}`, async () => {
    // The search can take seconds: it is not repeated unless something has happened to the message.
    if (missedAt.current === events.current) return null;
    const before = events.current;
    const message = await askMessage(name, id, place.current);
    missedAt.current = message === null ? before : null;
    place.current = message?.ref ?? id;
    return message;
  });
  const refreshBoth = () => {
    refresh();
    looked.refresh();
  };
  return (
    <Page
      title={`Message ${shortId(id)}`}
      subtitle={
        <>
          in <a href={queueLink(name)}>{name}</a>, among its{" "}
          <a href={queueLink(name, "messages")}>messages</a>
        </>
      }
      beside={() => <CopyButton label="Copy id" text={id} />}
      live={live}
      refresh={refreshBoth}
    >
      {(answer) => (
        <>
          <Neighbours queue={name} id={id} />
          <Shown name={name} answer={answer} search={searchOf(looked.live)} refresh={refreshBoth} />
        </>
      )}
    </Page>
  );
}

function searchOf(live: Live<WholeMessageView | null>): MessageSearch {
  if (live.kind === "loading" || live.kind === "tokenNeeded") return { kind: "looking" };
  if (live.kind === "lost" && live.answer === null) return { kind: "failed", text: live.reason };
  return live.answer === null ? { kind: "gone" } : { kind: "here", message: live.answer };
}

async function askStory(name: string, id: string): Promise<QueueAndStory> {
  const whole = id.replaceAll("-", "");
  const [queue, story] = await Promise.all([
    call<QueueView>(queuePath(name)),
    // A token for some queues may not read stories, which lead through others.
    ID.test(whole) ? ifAllowed(call<StoryView>(`${messagePath(name, whole)}/story`)) : null,
  ]);
  return { queue, story };
}

/** Asks for the message by its place, then by its id; `null` if it is no longer in the queue. */
async function askMessage(name: string, id: string, place: string): Promise<WholeMessageView | null> {
  for (const known of new Set([place, id])) {
    try {
      return await call<WholeMessageView>(messagePath(name, known));
    } catch (error) {
      if (!(error instanceof Refused && error.code === "message_not_found")) throw error;
    }
  }
  return null;
}

function Shown({
  name,
  answer,
  search,
  refresh,
}: {
  readonly name: string;
  readonly answer: QueueAndStory;
  readonly search: MessageSearch;
  readonly refresh: () => void;
}) {
  const { queue, story } = answer;
  const message = search.kind === "here" ? search.message : null;
  const now = useNow(queue.now);
  const held = queue.messages.ready + queue.messages.delayed + queue.messages.leased;
  const lastError = message?.lastError ?? message?.end?.error;
  const hasEnd = story?.events.some((event) => event.queue === name && ENDS.includes(event.kind));
  return (
    <>
      {search.kind === "looking" ? (
        <p class="notice">Looking for it among {plural(held, "message")}.</p>
      ) : null}
      {search.kind === "failed" ? <p class="notice bad">{search.text}</p> : null}
      {search.kind === "gone" ? (
        <p class="notice">
          It is not in <a href={queueLink(name)}>{name}</a> now.
          {story === null
            ? ""
            : hasEnd
              ? " Its story says where it went."
              : " Where it went was not noted: its story says what is missing, or a crash has lost it."}
          {KEEPING_ENDS.includes(story?.events.at(-1)?.kind) ? " Its body was not kept." : ""}
        </p>
      ) : null}
      {message === null ? null : (
        <section
          class={`notice ${TONES[message.end?.kind ?? message.state] ?? "busy"}`}
          aria-label={message.end ? "How it ended" : "Why it is not delivered"}
        >
          <StatePill of={message} /> <Sentence text={message.why.text} now={now} />
          {lastError == null ? null : (
            <p>
              Last error: <span class="error">{lastError}</span>
            </p>
          )}
        </section>
      )}
      {message === null ? null : (
        <MessageActions key={message.id} queue={queue} message={message} refresh={refresh} />
      )}
      <div class="columns">
        {story === null ? null : <Story story={story} message={message?.end ? null : message} now={now} />}
        {message === null ? null : (
          <div class="stack">
            <Body message={message} />
            <About message={message} now={now} />
            <SendAgain queue={name} id={message.id} />
          </div>
        )}
      </div>
    </>
  );
}

function About({ message, now }: { readonly message: WholeMessageView; readonly now: string }) {
  const {
    id,
    attempts,
    attemptsBefore,
    sentAt,
    keptUntil,
    group,
    attributes,
    from,
    dueAt,
    leasedUntil,
    end,
    trace,
  } = message;
  const time = (iso: string) => <time dateTime={iso}>{moment(iso, now)}</time>;
  return (
    <section class="card" aria-labelledby="about">
      <header>
        <h2 id="about">About it</h2>
      </header>
      <Facts
        of={[
          ["Id", <code key="id">{id}</code>],
          [
            "Delivered",
            attempts > 0
              ? plural(attempts, "time")
              : attemptsBefore
                ? `${plural(attemptsBefore, "time")} in an earlier queue`
                : "not yet",
          ],
          ["Sent", time(sentAt)],
          dueAt === null ? null : ["Due", time(dueAt)],
          leasedUntil === null ? null : ["Leased until", time(leasedUntil)],
          keptUntil === null ? null : ["Kept until", time(keptUntil)],
          end === undefined ? null : ["Finished", time(end.at)],
          // Without a URL it is no link.
          trace === undefined ? null : ["Trace", <a href={trace.url as string}>{trace.id}</a>],
          group === null ? null : ["Group", <code key="group">{group}</code>],
          from === null
            ? null
            : [
                "Dead letter of",
                <a key="from" href={queueLink(from)}>
                  {from}
                </a>,
              ],
          ...Object.entries(attributes).map(
            ([name, { type, value }]) =>
              [
                name,
                <span key={name}>
                  <code>{value}</code> <span class="quiet">{type}</span>
                </span>,
              ] as const,
          ),
        ]}
      />
    </section>
  );
}
