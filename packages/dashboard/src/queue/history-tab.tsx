import { useEffect, useState } from "preact/hooks";
import { call, type EventView, errorText, queuePath } from "../api/call.ts";
import { EventList } from "./event-list.tsx";

/** Events of one page. */
const PAGE_SIZE = 100;

const KINDS = [
  ["", "everything"],
  ["failed,retried,deadLettered,dropped,expired", "what went wrong"],
  ["accepted,arrived", "what came in"],
  ["delivered,printed,acked,failed,retried", "deliveries"],
  ["paused,resumed,purged,deleted,redriven,clockMoved,faulted", "what was done by hand"],
] as const;

interface HistoryAnswer {
  readonly isOn: boolean;
  readonly events: readonly EventView[];
  readonly cursor: string | null;
}

type LoadedHistory =
  | { readonly kind: "loading" }
  | ({ readonly kind: "answer" } & HistoryAnswer)
  | { readonly kind: "failed"; readonly text: string };

/** Shows the events of a queue, as far back as its history is kept. */
export function HistoryTab({ name, now }: { readonly name: string; readonly now: string }) {
  const [kinds, setKinds] = useState("");
  const [cursors, setCursors] = useState<readonly (string | null)[]>([null]);
  const [round, setRound] = useState(0);
  const [loaded, setLoaded] = useState<LoadedHistory>({ kind: "loading" });
  const cursor = cursors.at(-1) ?? null;
  useEffect(() => {
    let isOver = false;
    const query = new URLSearchParams({ max: String(PAGE_SIZE) });
    if (kinds !== "") query.set("kind", kinds);
    if (cursor !== null) query.set("cursor", cursor);
    call<HistoryAnswer>(`${queuePath(name)}/history?${query}`).then(
      (answer) => isOver || setLoaded({ kind: "answer", ...answer }),
      (error: unknown) => isOver || setLoaded({ kind: "failed", text: errorText(error) }),
    );
    return () => {
      isOver = true;
    };
  }, [name, kinds, cursor, round]);
  const next = loaded.kind === "answer" ? loaded.cursor : null;
  return (
    <div class="stack">
      <div class="row">
        <label for="history-kinds">Show</label>
        <select
          id="history-kinds"
          value={kinds}
          onChange={(event) => {
            setKinds(event.currentTarget.value);
            setCursors([null]);
          }}
        >
          {KINDS.map(([value, text]) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
        </select>
        <button
          type="button"
          onClick={() => {
            setCursors([null]);
            setRound(round + 1);
          }}
        >
          Look again
        </button>
      </div>
      {loaded.kind === "failed" ? (
        <p role="alert" class="notice bad">
          {loaded.text}
        </p>
      ) : null}
      {loaded.kind === "answer" && !loaded.isOn ? <HistoryIsOff name={name} /> : null}
      {loaded.kind === "answer" && loaded.isOn && loaded.events.length === 0 ? (
        <p class="card empty">
          {kinds === ""
            ? "Nothing has happened yet. What is sent, delivered or fails from now on is kept."
            : "Nothing of that kind is kept."}
        </p>
      ) : null}
      {loaded.kind === "answer" && loaded.events.length > 0 ? (
        <EventList label="Events" events={loaded.events} now={now} />
      ) : null}
      {cursors.length === 1 && next === null ? null : (
        <nav class="row" aria-label="Pages of events">
          <button
            type="button"
            disabled={cursors.length === 1}
            onClick={() => setCursors(cursors.slice(0, -1))}
          >
            Newer
          </button>
          <button type="button" disabled={next === null} onClick={() => setCursors([...cursors, next])}>
            Older
          </button>
        </nav>
      )}
    </div>
  );
}

/** Shows the setting that turns the history of a queue on. */
export function HistoryIsOff({ name }: { readonly name: string }) {
  return (
    <div class="card empty">
      <p>This queue keeps no history. In the configuration of a Worker that uses it, this turns it on:</p>
      <pre>{`[sluice.queues.${/^[\w-]+$/.test(name) ? name : JSON.stringify(name)}]\nhistory = "1h"`}</pre>
    </div>
  );
}
