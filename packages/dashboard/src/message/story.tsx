import type { StoryGapView, StoryView, WholeMessageView } from "../api/call.ts";
import { messageLink } from "../api/route.ts";
import { duration, moment, shortId } from "../text/format.ts";
import { ErrorText } from "../ui/scrolled.tsx";
import { Sentence } from "../ui/sentence.tsx";
import { storySteps } from "./story-steps.ts";

interface StoryProps {
  readonly story: StoryView;
  /** The message, as long as it is in its queue. */
  readonly message: WholeMessageView | null;
  readonly now: string;
}

/** Shows what happened to a message from its first send on, over all queues, with the waits between events. */
export function Story({ story, message, now }: StoryProps) {
  const steps = storySteps(story.events, story.gaps.length === 0);
  const last = steps.at(-1);
  return (
    <section class="card" aria-labelledby="story">
      <header>
        <h2 id="story">Story</h2>
        <span class="quiet">
          {story.messages.length > 1 ? "over all of its queues" : "times are this machine's"}
        </span>
      </header>
      <ol class="plain story" aria-labelledby="story">
        {story.gaps.map((gap) => (
          <li key={`${gap.queue} ${gap.reason}`} class="quiet">
            {gapText(gap, now)}
          </li>
        ))}
        {steps.flatMap(({ key, tone, at, queue, title, detail, error, wait }, i) => [
          wait === null ? null : (
            <li key={`${key} before`} class={`wait${wait.isLong ? " long" : ""}`}>
              {wait.text}
            </li>
          ),
          <li key={key} class={`event ${tone}`}>
            <span class="strong">{title}</span> {detail === "" ? null : <span>{detail}</span>}{" "}
            <span class="quiet">
              {i === 0 || steps[i - 1]?.queue !== queue ? (
                <>
                  in <Place queue={queue} story={story} />,{" "}
                </>
              ) : null}
              <time dateTime={at}>{moment(at, now)}</time>
            </span>
            {error === null ? null : <ErrorText>{error}</ErrorText>}
          </li>,
        ])}
        {message === null || last === undefined ? null : (
          <li class="wait long now">
            {message.state === "leased" ? "worked on" : "waits"} for{" "}
            {duration(Date.parse(now) - Date.parse(last.at))}: <Sentence text={message.why.text} now={now} />
          </li>
        )}
      </ol>
      {steps.length > 0 || story.gaps.length > 0 ? null : (
        <p class="empty">Nothing was noted of this message.</p>
      )}
    </section>
  );
}

function Place({ queue, story }: { readonly queue: string; readonly story: StoryView }) {
  const there = story.messages.find((message) => message.queue === queue);
  if (there === undefined) return <>{queue}</>;
  return (
    <a href={messageLink(queue, there.id)} title={there.id}>
      {queue} ({shortId(there.id)})
    </a>
  );
}

function gapText({ queue, reason, until }: StoryGapView, now: string): string {
  switch (reason) {
    case "merged":
      return `So much happened in ${queue} at the time that single messages were not noted: some events are missing.`;
    case "overwritten":
      return `What happened in ${queue}${until === null ? "" : ` before ${moment(until, now)}`} is not kept any more.`;
    case "unknown":
      return `Nothing is known of what happened in ${queue}.`;
    case "off":
      return `Queue ${queue} keeps no history. In its configuration history = "1h" turns it on.`;
  }
}
