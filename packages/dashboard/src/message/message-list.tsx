import { plural, size } from "@sluice/protocol/words";
import type { ComponentChildren } from "preact";
import type { MessageView } from "../api/call.ts";
import { messageLink } from "../api/route.ts";
import { ago, ahead, shortId } from "../text/format.ts";
import { ErrorLine } from "../ui/scrolled.tsx";
import { Sentence } from "../ui/sentence.tsx";
import { type Column, None, Table } from "../ui/table.tsx";
import type { Found } from "./use-messages.ts";

const TONES = { ready: "busy", delayed: "warn", leased: "good", finished: "quiet" } as const;

export function StatePill({ of: { state } }: { readonly of: Pick<MessageView, "state"> }) {
  return <span class={`pill ${TONES[state]}`}>{state}</span>;
}

function columns({
  queue,
  found,
  now,
  queueReason,
  choice,
}: MessageListProps): readonly Column<MessageView>[] {
  const { messages } = found;
  const areFinished = messages[0]?.end !== undefined;
  const all: readonly (Column<MessageView> | false)[] = [
    {
      heading: "Message",
      cell: ({ id, ref }) => (
        <span class="nowrap">
          {areFinished ? null : (
            <input
              type="checkbox"
              aria-label={`Choose ${shortId(id)}`}
              checked={choice.isAll || choice.refs.has(ref)}
              disabled={choice.isAll}
              onChange={() => choice.toggle(ref)}
            />
          )}{" "}
          <a class="mono" href={messageLink(queue, id, ref)} title={id}>
            {shortId(id)}
          </a>
        </span>
      ),
    },
    messages.some(({ lastError }) => lastError != null) && {
      heading: "Last error",
      isWide: true,
      cell: ({ lastError }) => (lastError == null ? <None /> : <ErrorLine>{lastError}</ErrorLine>),
    },
    { heading: "State", cell: (message) => <StatePill of={message} /> },
    {
      heading: "Attempts",
      isNumber: true,
      cell: ({ attempts, attemptsBefore }) =>
        attempts || !attemptsBefore ? attempts : `${attemptsBefore} before`,
    },
    {
      heading: areFinished ? "Ended" : "Next",
      cell: ({ dueAt, leasedUntil, state, end }) => (
        <span class="quiet nowrap">
          {end !== undefined
            ? ago(end.at, now)
            : leasedUntil !== null
              ? `lease ends ${ahead(leasedUntil, now)}`
              : state === "delayed" && dueAt
                ? ahead(dueAt, now)
                : "now"}
        </span>
      ),
    },
    messages.some(({ why }) => !queueReason.startsWith(why.text)) && {
      heading: areFinished ? "How it ended" : "Why it waits",
      isWide: true,
      cell: ({ why }) =>
        queueReason.startsWith(why.text) ? (
          <None />
        ) : (
          <span class="why">
            <Sentence text={why.text} now={now} />
          </span>
        ),
    },
    {
      heading: "Body",
      isWide: true,
      cell: ({ text, contentType }) => (
        <code class="preview">{text === null ? `${contentType}, no text` : text.slice(0, 200)}</code>
      ),
    },
    {
      heading: "Sent",
      cell: ({ sentAt, bytes }) => (
        <span class="quiet nowrap">
          <time dateTime={sentAt}>{ago(sentAt, now)}</time>, {size(bytes)}
        </span>
      ),
    },
  ];
  return all.filter((column) => column !== false);
}

/** Messages that the reader has chosen to act on. */
export interface Choice {
  /** Whether that is all that fit, on other pages too. */
  readonly isAll: boolean;
  readonly refs: ReadonlySet<string>;
  readonly toggle: (ref: string) => void;
}

interface MessageListProps {
  readonly queue: string;
  readonly found: Found;
  readonly now: string;
  readonly label: string;
  /** Why the queue as a whole delivers nothing more, as the page says above the list. Rows do not repeat it. */
  readonly queueReason: string;
  readonly choice: Choice;
  /** Content in place of no messages. */
  readonly empty: ComponentChildren;
}

/** Messages with their last error, their state, and why each of them waits. */
export function MessageList(props: MessageListProps) {
  const { found, label, empty } = props;
  return (
    <Table
      label={label}
      beside={<SearchedText found={found} />}
      columns={columns(props)}
      rows={found.messages}
      rowKey={({ ref }) => ref}
      empty={empty}
    />
  );
}

function SearchedText({ found: { filter, messages, searched, of, isBusy } }: { readonly found: Found }) {
  if (isBusy && of === 0) return <span class="quiet">Looking</span>;
  const all = plural(of, "message");
  const isWhole = searched >= of;
  const extent = isWhole ? all : `searched ${searched.toLocaleString("en")} of ${all}`;
  return (
    <span class="quiet" role="status">
      {filter === "" ? extent : `${messages.length} here, ${isWhole ? `searched all of ${all}` : extent}`}
      {isBusy ? ", looking for more" : ""}
    </span>
  );
}
