import { plural } from "@sluice/protocol/words";
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { call, errorText, type FoundView, type SearchView } from "../api/call.ts";
import { messageLink, queueLink, topicLink } from "../api/route.ts";
import { moment, shortId } from "../text/format.ts";
import { useKeys } from "../ui/keys.ts";

/** Pause in the typing after which a text is looked for, in ms. */
const PAUSE_MS = 300;

/** An id of a message, with or without hyphens. */
const WHOLE_ID = /^[\da-f-]{32,36}$/i;

/** Field that looks for a text in all queues. Arrows lead through what is found; Enter opens it, or the first. */
export function Search() {
  const [text, setText] = useState("");
  const [isOpen, setIsOpen] = useState(false);
  const [found, setFound] = useState<SearchView | string | null>(null);
  const [isBusy, setIsBusy] = useState(false);
  const whole = useRef<HTMLElement>(null);
  const field = useRef<HTMLInputElement>(null);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const searches = useRef(0);
  /** Whether Enter was pressed before anything was found. */
  const opensFirst = useRef(false);
  useKeys({ "/": () => field.current?.focus() });
  const links = () => [...(whole.current?.querySelectorAll("a") ?? [])];
  const search = async (looked: string) => {
    clearTimeout(timer.current);
    const number = ++searches.current;
    setFound(null);
    setIsBusy(true);
    setIsOpen(looked !== "");
    if (looked === "") return;
    const ask = (more: object) => call<SearchView>(`/search?${new URLSearchParams({ q: looked, ...more })}`);
    // Names are found at once, and a whole id in less time than a text.
    ask(WHOLE_ID.test(looked) ? { q: `id:${looked}` } : { in: "names" }).then(
      (first) => number === searches.current && setFound(first),
      () => {},
    );
    const answer = await ask({}).catch(errorText);
    if (number !== searches.current) return;
    searches.current++;
    setFound(answer);
    setIsBusy(false);
  };
  useEffect(() => {
    const [first] = links();
    if (!opensFirst.current || first === undefined) return;
    opensFirst.current = false;
    first.click();
  }, [found]);
  const close = () => {
    searches.current++;
    clearTimeout(timer.current);
    setIsOpen(false);
  };
  useEffect(() => {
    addEventListener("hashchange", close);
    return () => removeEventListener("hashchange", close);
  }, []);
  const pressed = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === "Escape") {
      field.current?.focus();
      close();
    }
    if (step === undefined || !isOpen) return;
    event.preventDefault();
    const places = [field.current, ...links()];
    const at = places.indexOf(document.activeElement as HTMLAnchorElement);
    places[(at + step + places.length) % places.length]?.focus();
  };
  return (
    <search
      ref={whole}
      aria-label="All queues"
      onKeyDown={pressed}
      onFocusOut={({ relatedTarget }) => {
        if (!whole.current?.contains(relatedTarget as Node | null)) close();
      }}
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          const [first] = links();
          opensFirst.current = first === undefined;
          if (first === undefined) void search(text.trim());
          else first.click();
        }}
      >
        <label for="search" class="hidden">
          Look for anything in all queues
        </label>
        <input
          id="search"
          ref={field}
          type="search"
          placeholder="Search: id, name, orderId:20042, text (/)"
          autoComplete="off"
          spellcheck={false}
          value={text}
          onInput={({ currentTarget: { value } }) => {
            setText(value);
            clearTimeout(timer.current);
            opensFirst.current = false;
            timer.current = setTimeout(() => void search(value.trim()), PAUSE_MS);
          }}
        />
      </form>
      {isOpen ? (
        // Some browsers give a clicked link no focus. This element takes it then: else the list would close before the
        // click.
        <div class="found card" tabIndex={-1}>
          {found === null || typeof found === "string" ? null : <Found {...found} text={text.trim()} />}
          <p role="status">{statusOf(found, isBusy)}</p>
        </div>
      ) : null}
    </search>
  );
}

function statusOf(found: SearchView | string | null, isBusy: boolean): string {
  if (isBusy || found === null) return "Looking in all queues.";
  if (typeof found === "string") return found;
  const { queues, topics, messages, gone } = found;
  return queues.length + topics.length + messages.length + gone.length === 0 ? "Nothing is found." : "";
}

function Found({ queues, topics, messages, gone, unfinished, text }: SearchView & { readonly text: string }) {
  const now = new Date().toISOString();
  return (
    <>
      <Group name="Queues and topics">
        {queues.map((queue) => (
          <a key={queue} href={queueLink(queue)}>
            {queue}
          </a>
        ))}
        {topics.map((arn) => (
          <a key={arn} href={topicLink(arn)}>
            {arn}
          </a>
        ))}
      </Group>
      {messages.map((hits) => (
        <Group key={`${hits.queue} ${hits.filter}`} name={`Messages in ${hits.queue}`}>
          {hits.messages.map((message) => (
            <a key={message.ref} href={messageLink(hits.queue, message.id, message.ref)}>
              <span class="mono">{shortId(message.id)}</span> <span class="tag">{message.state}</span>{" "}
              <code class="preview">{message.text?.slice(0, 200) ?? message.contentType}</code>
            </a>
          ))}
          {moreOf(hits)}
        </Group>
      ))}
      <Group name="Messages that are gone">
        {gone.map(({ queue, id, last }) => (
          <a key={queue + id} href={messageLink(queue, id)}>
            <span class="mono">{shortId(id)}</span> {`${queue}: ${kindText(last)}, ${moment(last.at, now)}`}
          </a>
        ))}
      </Group>
      <Group name="Not searched to the end">
        {unfinished.map(({ queue, searched, of }) => (
          <a key={queue} href={queueLink(queue, "messages", text)}>
            {queue}
            {of === null ? "" : `: ${searched.toLocaleString("en")} of ${plural(of, "message")}`}
          </a>
        ))}
      </Group>
    </>
  );
}

/** Formats the kind of an event in words, such as "dead lettered to orders-dead". */
function kindText({ kind, to }: SearchView["gone"][number]["last"]): string {
  return kind.replace(/[A-Z]/, " $&").toLowerCase() + (to === null ? "" : ` to ${to}`);
}

/** Makes a link to all messages of a queue that fit; `null` where all are shown. */
function moreOf({ queue, filter, messages, count, isWhole }: FoundView) {
  const more = count - messages.length;
  if (more === 0) return null;
  return (
    <a href={queueLink(queue, "messages", filter)}>
      and {isWhole ? "" : "at least "}
      {more.toLocaleString("en")} more in {queue}
    </a>
  );
}

/** Results of one kind under their heading; nothing where there are none. */
function Group({ name, children }: { readonly name: string; readonly children: ComponentChildren }) {
  if (Array.isArray(children) && children.flat().every((child) => child === null)) return null;
  return (
    <section aria-label={name}>
      <h2>{name}</h2>
      {children}
    </section>
  );
}
