import { plural } from "@sluice/protocol/words";
import type { EventView } from "../api/call.ts";
import { messageLink } from "../api/route.ts";
import { Printed } from "../message/printed.tsx";
import { wordsOf } from "../message/story-steps.ts";
import { moment, shortId } from "../text/format.ts";
import { ErrorLine, Thrown } from "../ui/scrolled.tsx";
import { type Column, None, Table } from "../ui/table.tsx";

/** Ids that stand beside an event. */
const IDS_MAX = 3;

/** Kinds of events of a queue itself, which have no messages. */
const OF_QUEUE: readonly string[] = ["paused", "resumed", "clockMoved"];

/** Ids of an event's messages. An acknowledgement of a whole delivery has those of its beginning. */
function idsOf(event: EventView, events: readonly EventView[]): readonly string[] {
  const { kind, queue, batch, messages, ids } = event;
  if (kind !== "acked" || batch === null) return ids;
  const begun = events.find(
    (each) => each.kind === "delivered" && each.queue === queue && each.batch === batch,
  );
  return begun?.messages === messages ? begun.ids : ids;
}

function columns(events: readonly EventView[], now: string): readonly Column<EventView>[] {
  return [
    {
      heading: "When",
      cell: ({ at }) => (
        <time class="mono nowrap" dateTime={at}>
          {moment(at, now)}
        </time>
      ),
    },
    {
      heading: "What",
      isWide: true,
      cell: (event) => {
        const { tone, title, detail } = wordsOf(event);
        const words = (
          <span class="status">
            <span class={`pill ${tone}`}>{title}</span>{" "}
            {detail === "" ? null : <span class="detail">{detail}</span>}
          </span>
        );
        if (event.logs === undefined) return words;
        return (
          <details>
            <summary>{words}</summary>
            <Printed logs={event.logs} now={now} />
          </details>
        );
      },
    },
    {
      heading: "Messages",
      isWide: true,
      cell: (event) => {
        const { kind, queue, messages, merged } = event;
        if (OF_QUEUE.includes(kind)) return <None />;
        const ids = idsOf(event, events);
        return (
          <>
            {plural(messages, "message")}
            {merged === null ? null : <span class="quiet"> in {plural(merged.events, "event")}, merged</span>}
            {ids.slice(0, IDS_MAX).map((id) => (
              <span key={id}>
                {" "}
                <a class="mono" href={messageLink(queue, id)} title={id}>
                  {shortId(id)}
                </a>
              </span>
            ))}
            {ids.length > IDS_MAX ? <span class="quiet"> …</span> : null}
          </>
        );
      },
    },
    {
      heading: "Error",
      isWide: true,
      cell: ({ error }) =>
        error === null ? (
          <None />
        ) : !error.includes("\n") ? (
          <ErrorLine>{error}</ErrorLine>
        ) : (
          <details>
            <summary>
              <ErrorLine>{error.split("\n", 1)[0] ?? ""}</ErrorLine>
            </summary>
            <Thrown>{error}</Thrown>
          </details>
        ),
    },
  ];
}

interface EventListProps {
  readonly label: string;
  readonly events: readonly EventView[];
  readonly now: string;
}

/** Events of a queue, newest first, in words. */
export function EventList({ label, events, now }: EventListProps) {
  return (
    <Table
      label={label}
      columns={columns(events, now)}
      rows={events}
      rowKey={({ queue, number, at }) => `${queue} ${number ?? at}`}
    />
  );
}
