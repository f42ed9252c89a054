import type { QueueView } from "../api/call.ts";
import { queueLink } from "../api/route.ts";
import { FilterField } from "./filter-field.tsx";
import { MessageList } from "./message-list.tsx";
import { useMessages } from "./use-messages.ts";

interface MessagesTabProps {
  readonly queue: QueueView;
  readonly filter: string;
  readonly now: string;
  readonly send: () => void;
}

/** The messages of a queue in every state. Looking at them changes nothing. */
export function MessagesTab({ queue, filter, now, send }: MessagesTabProps) {
  const { name } = queue;
  const { found, page, first, next, previous, refresh } = useMessages(name, filter);
  const { messages, isBusy, cursor, problem, failure } = found;
  const isNone = messages.length === 0 && !isBusy && problem === "" && failure === "";
  return (
    <div class="stack">
      <div class="row start">
        <FilterField
          filter={filter}
          changed={(changed) => {
            if (changed !== filter) {
              history.replaceState(null, "", queueLink(name, "messages", changed));
              dispatchEvent(new HashChangeEvent("hashchange"));
            } else first();
          }}
          problem={problem}
        />
        <button type="button" onClick={refresh}>
          Look again
        </button>
      </div>
      {failure === "" ? null : (
        <p role="alert" class="notice bad">
          {failure}
        </p>
      )}
      {isNone ? <NoMessages queue={queue} filter={filter} send={send} isMore={cursor !== null} /> : null}
      {messages.length === 0 ? null : <MessageList queue={name} found={found} now={now} label="Messages" />}
      {page === 1 && cursor === null ? null : (
        <nav class="row" aria-label="Pages of messages">
          <button type="button" disabled={page === 1} onClick={previous}>
            Previous
          </button>
          <span>Page {page}</span>
          <button type="button" disabled={cursor === null} onClick={next}>
            {messages.length === 0 ? "Search on" : "Next"}
          </button>
        </nav>
      )}
    </div>
  );
}

interface NoMessagesProps {
  readonly queue: QueueView;
  readonly filter: string;
  readonly send: () => void;
  /** Whether some messages were not searched. */
  readonly isMore: boolean;
}

function NoMessages({ queue, filter, send, isMore }: NoMessagesProps) {
  if (filter !== "") {
    return (
      <div class="card empty">
        <p>
          {isMore ? "No message so far" : "No message"} fits <code>{filter}</code>. A message has to fit every
          term of it.
        </p>
        <a href={queueLink(queue.name, "messages")}>Show all messages</a>
      </div>
    );
  }
  const binding = queue.producers[0]?.binding ?? "QUEUE";
  return (
    <div class="card empty">
      <p>The queue is empty. Send it a message from a Worker that is bound to it, or from here:</p>
      <pre>{`await env.${binding}.send({ hello: "world" });`}</pre>
      <button type="button" onClick={send}>
        Send a message
      </button>
    </div>
  );
}
