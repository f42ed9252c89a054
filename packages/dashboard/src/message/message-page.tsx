import { useRef } from "preact/hooks";
import {
  call,
  messagePath,
  type QueueView,
  queuePath,
  Refused,
  type StoryView,
  type WholeMessageView,
} from "../api/call.ts";
import { queueLink } from "../api/route.ts";
import { useLive } from "../api/use-live.ts";
import { useNow } from "../development/use-now.ts";
import { moment, plural } from "../text/format.ts";
import { Facts } from "../ui/facts.tsx";
import { Page } from "../ui/page.tsx";
import { Sentence } from "../ui/sentence.tsx";
import { Body } from "./body.tsx";
import { MessageActions } from "./message-actions.tsx";
import { StatePill, shortId } from "./message-list.tsx";
import { Story } from "./story.tsx";

interface Answer {
  readonly queue: QueueView;
  /** `null` when it is in the queue no more. */
  readonly message: WholeMessageView | null;
  /** `null` where there is none: the message was found by a name that tells no story. */
  readonly story: StoryView | null;
}

const ID = /^[0-9a-f]{32}$/;

interface MessagePageProps {
  readonly queue: string;
  readonly id: string;
  /** What the list of messages calls it; empty if the reader comes from elsewhere. */
  readonly handle: string;
}

/** One message: what it is, why it waits, what happened to it, and what can be done about it. */
export function MessagePage({ queue: name, id, handle }: MessagePageProps) {
  const isGone = useRef(false);
  const { live, refresh } = useLive(`message ${name} ${id}`, () => ask(name, id, handle, isGone));
  return (
    <Page
      title={`Message ${shortId(id)}`}
      subtitle={
        <>
          in <a href={queueLink(name)}>{name}</a>, among its{" "}
          <a href={queueLink(name, "messages")}>messages</a>
        </>
      }
      live={live}
      refresh={refresh}
    >
      {(answer) => <Shown name={name} answer={answer} refresh={refresh} />}
    </Page>
  );
}

/** @param isGone whether it was found to be in the queue no more: it does not come back. */
async function ask(name: string, id: string, handle: string, isGone: { current: boolean }): Promise<Answer> {
  const [queue, message] = await Promise.all([
    call<QueueView>(queuePath(name)),
    (isGone.current ? Promise.resolve(null) : call<WholeMessageView>(messagePath(name, handle || id))).catch(
      (error: unknown) => {
        if (error instanceof Refused && error.code === "message_not_found") return null;
        throw error;
      },
    ),
  ]);
  isGone.current = message === null;
  const whole = (message?.id ?? id).replaceAll("-", "");
  const story = ID.test(whole) ? await call<StoryView>(`${messagePath(name, whole)}/story`) : null;
  return { queue, message, story };
}

function Shown({
  name,
  answer,
  refresh,
}: {
  readonly name: string;
  readonly answer: Answer;
  readonly refresh: () => void;
}) {
  const { queue, message, story } = answer;
  const now = useNow(queue.now);
  const isTold = story !== null && story.events.length > 0;
  return (
    <>
      {message === null ? (
        <p class="notice">
          It is in <a href={queueLink(name)}>{name}</a> no more.
          {isTold ? " Its story says how it left." : " Nothing is known of how it left."}
        </p>
      ) : (
        <section
          class={`notice ${message.state === "leased" ? "good" : "busy"}`}
          aria-label="Why it is not delivered"
        >
          <StatePill of={message} /> <Sentence text={message.why.text} now={now} />
        </section>
      )}
      {message === null ? null : (
        <MessageActions key={message.id} queue={queue} message={message} refresh={refresh} />
      )}
      <div class="columns">
        {story === null ? null : <Story story={story} message={message} now={now} />}
        {message === null ? null : (
          <div class="stack">
            <Body message={message} />
            <About message={message} now={now} />
          </div>
        )}
      </div>
    </>
  );
}

function About({ message, now }: { readonly message: WholeMessageView; readonly now: string }) {
  const { id, attempts, sentAt, keptUntil, group, attributes, from, dueAt, leasedUntil } = message;
  const time = (iso: string) => (
    <>
      <time dateTime={iso}>{moment(iso, now)}</time>
    </>
  );
  return (
    <section class="card" aria-labelledby="about">
      <header>
        <h2 id="about">About it</h2>
      </header>
      <Facts
        of={[
          ["Id", <code key="id">{id}</code>],
          ["Delivered", attempts === 0 ? "not yet" : `${plural(attempts, "time")}`],
          ["Sent", time(sentAt)],
          dueAt === null ? null : ["Due", time(dueAt)],
          leasedUntil === null ? null : ["Leased until", time(leasedUntil)],
          ["Kept until", time(keptUntil)],
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
