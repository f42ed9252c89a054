import type { StoryGapView, StoryView, WholeMessageView } from "../api/call.ts";
import { messageLink } from "../api/route.ts";
import { duration, moment, shortId } from "../text/format.ts";
import { ErrorText } from "../ui/scrolled.tsx";
import { Sentence } from "../ui/sentence.tsx";
import { Printed } from "./printed.tsx";
import { gapText, storySteps } from "./story-steps.ts";

interface StoryProps {
  readonly story: StoryView;
  /** The message, as long as it is in its queue. */
  readonly message: WholeMessageView | null;
  readonly now: string;
}

/** Shows what happened to a message from its first send on, over all queues, with the waits between events. */
export function Story({ story, message, now }: StoryProps) {
  const { steps, gapsAfter } = storySteps(story);
  const last = steps.at(-1);
  const sinceLastMs = last === undefined ? 0 : Date.parse(now) - Date.parse(last.at);
  return (
    <section class="card" aria-labelledby="story">
      <header>
        <h2 id="story">Story</h2>
        <span class="quiet">
          {story.messages.length > 1 ? "over all of its queues" : "times are this machine's"}
        </span>
      </header>
      <ol class="plain story" aria-labelledby="story">
        {steps.flatMap(({ key, tone, at, queue, title, detail, error, logs, gaps, wait }, i) => [
          <Gaps key={`${key} gaps`} of={gaps} isAll={false} now={now} />,
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
            {logs === undefined ? null : <Printed logs={logs} now={now} />}
          </li>,
        ])}
        <Gaps of={gapsAfter} isAll={last === undefined} now={now} />
        {message === null || last === undefined ? null : (
          <li class="wait long now">
            {gapsAfter.length > 0
              ? ""
              : `${message.state === "leased" ? "worked on" : "waits"} for ${duration(sinceLastMs)}: `}
            <Sentence text={message.why.text} now={now} />
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

interface GapsProps {
  readonly of: readonly StoryGapView[];
  /** Whether the story has nothing else. */
  readonly isAll: boolean;
  readonly now: string;
}

function Gaps({ of, isAll, now }: GapsProps) {
  return of.map((gap) => (
    <li key={`${gap.queue} ${gap.reason}`} class="wait long now">
      {gapText(gap, isAll, now)}
    </li>
  ));
}
