import { useState } from "preact/hooks";
import { call, type MessageView, queuePath } from "../api.ts";
import { plural, size } from "../format.ts";

type Shown =
  | { readonly kind: "none" }
  | { readonly kind: "messages"; readonly messages: readonly MessageView[] }
  | { readonly kind: "failed"; readonly reason: string };

/** The first messages in whatever state, when somebody asks for them: looking reads what Cloudflare bills. */
export function WaitingMessages({ name }: { readonly name: string }) {
  const [shown, setShown] = useState<Shown>({ kind: "none" });
  const look = async () => {
    try {
      const { messages } = await call<{ messages: MessageView[] }>(`${queuePath(name)}/messages`);
      setShown({ kind: "messages", messages });
    } catch (error) {
      setShown({ kind: "failed", reason: error instanceof Error ? error.message : String(error) });
    }
  };
  return (
    <section aria-labelledby="messages">
      <h2 id="messages">Messages</h2>
      <div class="row">
        <button type="button" onClick={look}>
          {shown.kind === "none" ? "Show the first ones" : "Look again"}
        </button>
        <span class="quiet">Nothing is leased or counted by looking.</span>
      </div>
      <div role="status">
        {shown.kind === "failed" ? <p class="lost">{shown.reason}</p> : null}
        {shown.kind === "messages" && shown.messages.length === 0 ? (
          <p class="quiet">There is none.</p>
        ) : null}
      </div>
      {shown.kind !== "messages" ? null : (
        <ol class="messages">
          {shown.messages.map((message) => (
            <Message key={message.id} message={message} />
          ))}
        </ol>
      )}
    </section>
  );
}

function Message({ message }: { readonly message: MessageView }) {
  const { id, state, why, sentAt, contentType, attempts, bytes, text, truncated } = message;
  return (
    <li class="card pad">
      <div class="quiet">
        <code>{id}</code> · sent{" "}
        <time dateTime={sentAt}>{sentAt.replace("T", " ").replace(/\.\d+Z$/, " UTC")}</time> · {contentType} ·{" "}
        {size(bytes)} · {attempts === 0 ? "not delivered yet" : plural(attempts, "delivery attempt")} ·{" "}
        {state}
      </div>
      <p>{why.text}</p>
      {text === null ? (
        <p class="quiet">Not text.</p>
      ) : (
        // A long text scrolls, so that has to be reachable.
        // biome-ignore lint/a11y/noNoninteractiveTabindex: see above
        <pre tabIndex={0}>
          {text}
          {truncated ? "…" : ""}
        </pre>
      )}
    </li>
  );
}
