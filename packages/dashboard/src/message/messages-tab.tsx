import { plural } from "@sluice/protocol/words";
import { useEffect, useRef, useState } from "preact/hooks";
import type { QueueView } from "../api/call.ts";
import { queueLink } from "../api/route.ts";
import { OutcomeLine } from "../ui/outcome.tsx";
import { useAction } from "../ui/use-action.ts";
import { BulkActions } from "./bulk-actions.tsx";
import { ErrorGroups } from "./error-groups.tsx";
import { FilterField } from "./filter-field.tsx";
import { MessageList } from "./message-list.tsx";
import { useMessages } from "./use-messages.ts";
import { useReading } from "./use-reading.ts";

const FINISHED = "state:finished";

interface MessagesTabProps {
  readonly queue: QueueView;
  readonly filter: string;
  readonly now: string;
  readonly send: () => void;
  /** Why the queue delivers nothing more, as the page says above. */
  readonly queueReason: string;
  /** Asks for the queue again. */
  readonly changed: () => void;
}

/** The messages of a queue in every state. Looking at them changes nothing. */
export function MessagesTab({ queue, filter, now, send, queueReason, changed }: MessagesTabProps) {
  const { name, lastMove } = queue;
  const version = `${lastMove?.startedAt} ${lastMove?.moved} ${lastMove?.status}`;
  const { found, page, first, next, previous, refresh } = useMessages(name, filter, version);
  const { messages, errors, isBusy, cursor, problem, failure } = found;
  const [isAll, setIsAll] = useState(false);
  const [refs, setRefs] = useState<ReadonlySet<string>>(new Set());
  const chooseNone = () => {
    setIsAll(false);
    setRefs(new Set());
  };
  useEffect(chooseNone, [name, filter]);
  const { outcome, run } = useAction(() => {
    chooseNone();
    refresh();
    changed();
  });
  const countText =
    errors === null
      ? ""
      : `${errors.searched < errors.of ? "at least " : ""}${plural(errors.matched, "message")}`;
  const isNone = messages.length === 0 && !isBusy && problem === "" && failure === "";
  // The first time the list waits for the errors, which would push it down. Later it stays, and keeps the focus.
  const wasAnswered = useRef(false);
  wasAnswered.current ||= !isBusy || found.now !== undefined;
  const arrivals = useReading(queue, found, refresh);
  return (
    <div class="stack">
      <div class="row start">
        <FilterField
          filter={filter}
          changed={(typed) => {
            if (typed !== filter) {
              history.replaceState(null, "", queueLink(name, "messages", typed));
              dispatchEvent(new HashChangeEvent("hashchange"));
            } else first();
          }}
          problem={problem}
        />
        {found.finished === undefined || filter.includes(FINISHED) ? null : (
          <a class="button" href={queueLink(name, "messages", `${FINISHED} ${filter}`.trim())}>
            Finished, last {found.finished.toLocaleString("en")}
          </a>
        )}
        <button type="button" onClick={refresh}>
          <span aria-live="polite">
            {arrivals === 0 ? "Look again" : `${arrivals.toLocaleString("en")} new: look again`}
          </span>
        </button>
      </div>
      {failure === "" ? null : (
        <p role="alert" class="notice bad">
          {failure}
        </p>
      )}
      {errors === null ? null : (
        <ErrorGroups
          queue={name}
          filter={filter}
          errors={errors}
          silent={messages.find(({ from, lastError }) => from !== null && lastError == null)?.from ?? null}
        />
      )}
      <OutcomeLine of={outcome} />
      {!wasAnswered.current || (messages.length === 0 && !isNone && !isBusy) ? null : (
        <>
          {messages.length > 0 && messages[0]?.end === undefined ? (
            <div class="row">
              <label class="row">
                <input
                  type="checkbox"
                  checked={isAll}
                  onChange={(event) => setIsAll(event.currentTarget.checked)}
                />
                All that fit{countText === "" ? "" : `: ${countText}`}
              </label>
              {isAll || refs.size > 0 ? (
                <BulkActions
                  queue={queue}
                  count={isAll ? "" : `${refs.size} chosen`}
                  chosen={isAll ? { filter } : { ids: [...refs] }}
                  done={(text) => void run(async () => text)}
                />
              ) : null}
            </div>
          ) : null}
          <MessageList
            queue={name}
            found={found}
            now={now}
            label="Messages"
            queueReason={queueReason}
            empty={
              isNone ? (
                <NoMessages queue={queue} filter={filter} send={send} isMore={cursor !== null} />
              ) : null
            }
            choice={{
              isAll,
              refs,
              toggle: (ref) => {
                const changed = new Set(refs);
                if (!changed.delete(ref)) changed.add(ref);
                setRefs(changed);
              },
            }}
          />
        </>
      )}
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
      <div class="empty">
        <p>
          {isMore ? "No message so far" : "No message"} fits <code>{filter}</code>. A message has to fit every
          term of it.
        </p>
        <a href={queueLink(queue.name, "messages")}>Show all messages</a>
      </div>
    );
  }
  const { ready, delayed, leased } = queue.messages;
  if (ready + delayed + leased > 0) {
    return <p class="empty">The list has none of the messages that are in the queue now.</p>;
  }
  const binding = queue.producers[0]?.binding ?? "QUEUE";
  return (
    <div class="empty">
      <p>The queue is empty. Send it a message from a Worker that is bound to it, or from here:</p>
      <pre>{`await env.${binding}.send({ hello: "world" });`}</pre>
      <button type="button" onClick={send}>
        Send a message
      </button>
    </div>
  );
}
