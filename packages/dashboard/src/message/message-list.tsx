import { plural, size } from "@sluice/protocol/words";
import type { MessageView } from "../api/call.ts";
import { messageLink } from "../api/route.ts";
import { ago, ahead, shortId } from "../text/format.ts";
import { Sentence } from "../ui/sentence.tsx";
import { type Column, Table } from "../ui/table.tsx";
import type { Found } from "./use-messages.ts";

const TONES = { ready: "busy", delayed: "warn", leased: "good" } as const;

export function StatePill({ of: { state } }: { readonly of: Pick<MessageView, "state"> }) {
  return <span class={`pill ${TONES[state]}`}>{state}</span>;
}

function columns(queue: string, now: string): readonly Column<MessageView>[] {
  return [
    {
      heading: "Message",
      cell: ({ id, ref }) => (
        <a class="mono" href={messageLink(queue, id, ref)} title={id}>
          {shortId(id)}
        </a>
      ),
    },
    { heading: "State", cell: (message) => <StatePill of={message} /> },
    { heading: "Attempts", isNumber: true, cell: ({ attempts }) => attempts },
    {
      heading: "Next",
      cell: ({ dueAt, leasedUntil, state }) => (
        <span class="quiet nowrap">
          {leasedUntil !== null
            ? `lease ends ${ahead(leasedUntil, now)}`
            : state === "delayed" && dueAt
              ? ahead(dueAt, now)
              : "now"}
        </span>
      ),
    },
    {
      heading: "Why it waits",
      isWide: true,
      cell: ({ why }) => (
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
}

interface MessageListProps {
  readonly queue: string;
  readonly found: Found;
  readonly now: string;
  readonly label: string;
}

/** Messages with their state and why each of them waits. */
export function MessageList({ queue, found, now, label }: MessageListProps) {
  return (
    <Table
      label={label}
      beside={<SearchedText found={found} />}
      columns={columns(queue, now)}
      rows={found.messages}
      rowKey={({ ref }) => ref}
    />
  );
}

function SearchedText({ found: { searched, of, isBusy } }: { readonly found: Found }) {
  const all = plural(of, "message");
  return (
    <span class="quiet" role="status">
      {searched >= of ? all : `searched ${searched.toLocaleString("en")} of ${all}`}
      {isBusy ? ", looking for more" : ""}
    </span>
  );
}
