import { afterDelete } from "@sluice/protocol/words";
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { call, messagePath, type QueueView, queuePath, type WholeMessageView } from "../api/call.ts";
import { messageLink } from "../api/route.ts";
import { useTargets } from "../api/use-targets.ts";
import { shortId } from "../text/format.ts";
import { bytesOf, hexOf } from "../text/hex.ts";
import { layOut, scanJson } from "../text/json-scan.ts";
import { ConfirmButton } from "../ui/confirm-button.tsx";
import { OutcomeLine } from "../ui/outcome.tsx";
import { useAction } from "../ui/use-action.ts";
import { Compose } from "./compose.tsx";
import type { Draft } from "./draft.ts";

interface MessageActionsProps {
  readonly queue: QueueView;
  readonly message: WholeMessageView;
  readonly refresh: () => void;
}

/** Offers the actions on one message. */
export function MessageActions({ queue, message, refresh }: MessageActionsProps) {
  const [isEditing, setIsEditing] = useState(false);
  const { outcome, isBusy, run } = useAction(refresh);
  const path = messagePath(queue.name, message.ref);
  const isLeased = message.state === "leased";
  const aboutConsumer = isLeased ? " A consumer works on it: that goes on." : "";
  const isFinished = message.end !== undefined;
  return (
    <section aria-label="Actions" aria-busy={isBusy} class="stack">
      <div class="row">
        {isFinished ? (
          <button
            type="button"
            onClick={() => run(async () => sentText(await call(`${path}/resend`, "POST", {})))}
          >
            Send again
          </button>
        ) : null}
        {message.state === "ready" || isFinished ? null : (
          <button
            type="button"
            onClick={() =>
              run(async () => {
                await call(`${path}/retry`, "POST");
                return isLeased ? "The lease is released: it is due now." : "It is due now.";
              })
            }
          >
            {isLeased ? "Release the lease" : "Retry now"}
          </button>
        )}
        {message.from !== null && queue.deadLettersOf.queues.length > 0 && !isLeased ? (
          <button
            type="button"
            onClick={() =>
              run(async () => {
                await call(`${queuePath(queue.name)}/redrive`, "POST", { ids: [message.ref] });
                return `On its way back to ${message.from}.`;
              })
            }
          >
            Redrive
          </button>
        ) : null}
        <button type="button" onClick={() => setIsEditing(true)}>
          Edit and resend
        </button>
        {isFinished ? null : (
          <ConfirmButton
            label="Delete"
            isDangerous
            question={`Delete message ${message.id}? ${afterDelete(queue.settings.finishedMessages)}${aboutConsumer}`}
            run={() =>
              run(async () => {
                await call(path, "DELETE");
                return "Deleted.";
              })
            }
          />
        )}
      </div>
      <OutcomeLine of={outcome} />
      {isEditing ? (
        <Resend
          queue={queue}
          message={message}
          sent={(text) => void run(async () => text)}
          closed={() => setIsEditing(false)}
        />
      ) : null}
    </section>
  );
}

interface Sent {
  readonly queue: string;
  readonly id: string;
}

function sentText({ queue, id }: Sent) {
  return (
    <>
      Sent to {queue} as message <a href={messageLink(queue, id)}>{shortId(id)}</a>. This one stays.
    </>
  );
}

interface ResendProps extends Pick<MessageActionsProps, "queue" | "message"> {
  readonly sent: (text: ComponentChildren) => void;
  readonly closed: () => void;
}

/** Sends the message again, edited, to this queue or another. */
function Resend({ queue, message, sent, closed }: ResendProps) {
  const targets = useTargets(queue);
  const [to, setTo] = useState(message.from ?? queue.name);
  return (
    <Compose
      title="Edit and resend"
      label="Send as a new message"
      draft={draftOf(message)}
      send={async ({ group: _, ...changes }) => {
        const path = `${messagePath(queue.name, message.ref)}/resend`;
        sent(sentText(await call<Sent>(path, "POST", { ...changes, to })));
      }}
      closed={closed}
    >
      <div class="field">
        <label for="resend-to">Send to</label>
        <select id="resend-to" value={to} onChange={(event) => setTo(event.currentTarget.value)}>
          {[...new Set([queue.name, to, ...targets])].map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
        {message.contentType === "v8" ? (
          <span class="hint">A structured clone cannot be edited: JSON that you write here replaces it.</span>
        ) : null}
      </div>
    </Compose>
  );
}

function draftOf({ text, base64, contentType }: WholeMessageView): Draft {
  if (contentType === "v8") return { contentType: "json", text: "", delay: "", group: null };
  if (text === null)
    return { contentType: "bytes", text: hexOf(bytesOf(base64 ?? "")), delay: "", group: null };
  if (contentType !== "json")
    return { contentType: contentType === "text" ? "text" : "bytes", text, delay: "", group: null };
  const scanned = scanJson(text);
  const laidOut = scanned.ok
    ? layOut(scanned.tokens)
        .map((token) => token.text)
        .join("")
    : text;
  return { contentType: "json", text: laidOut, delay: "", group: null };
}
