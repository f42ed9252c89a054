import { useState } from "preact/hooks";
import type { QueueView } from "../api/call.ts";
import { type Sorting, sorted, Table } from "../ui/table.tsx";
import { QUEUE_COLUMNS } from "./columns.tsx";
import { STATES, type StateFilter, TROUBLES, totalsOf, troubleOf } from "./trouble.ts";

/** Queues of a page of the table. */
const PAGE_QUEUES = 50;

interface QueueTableProps {
  /** The worst first. */
  readonly queues: readonly QueueView[];
  readonly state: StateFilter;
  readonly setState: (state: StateFilter) => void;
}

/** Table of queues, a page at a time: the worst first, unless a column is chosen. */
export function QueueTable({ queues, state, setState }: QueueTableProps) {
  const [sorting, setSorting] = useState<Sorting>({ heading: null, isTurned: false });
  const [asked, setPage] = useState(1);
  const { queues: counts } = totalsOf(queues);
  const fits = (queue: QueueView) => {
    const own = troubleOf(queue);
    return state === "all" || (state === "trouble" ? TROUBLES.includes(own) : state === own);
  };
  const rows = sorted(queues.filter(fits), QUEUE_COLUMNS, sorting);
  const pages = Math.max(1, Math.ceil(rows.length / PAGE_QUEUES));
  const page = Math.min(asked, pages);
  const trouble = TROUBLES.reduce((sum, each) => sum + counts[each], 0);
  const options: readonly (readonly [StateFilter, string])[] = [
    ["all", `all ${queues.length.toLocaleString("en")}`],
    ["trouble", `in trouble: ${trouble.toLocaleString("en")}`],
    ...STATES.map((each) => [each, `${each}: ${counts[each].toLocaleString("en")}`] as const),
  ];
  return (
    <div class="stack">
      <Table
        label="All queues"
        beside={
          <label>
            Show{" "}
            <select
              value={state}
              onChange={(event) => {
                setState(event.currentTarget.value as StateFilter);
                setPage(1);
              }}
            >
              {options.map(([value, text]) => (
                <option key={value} value={value}>
                  {text}
                </option>
              ))}
            </select>
          </label>
        }
        columns={QUEUE_COLUMNS}
        rows={rows.slice((page - 1) * PAGE_QUEUES, page * PAGE_QUEUES)}
        rowKey={({ id }) => id}
        sorting={sorting}
        sort={(chosen) => {
          setSorting(chosen);
          setPage(1);
        }}
      />
      {rows.length === 0 ? <p class="card empty">No queue is in this state.</p> : null}
      {pages === 1 ? null : (
        <nav class="row" aria-label="Pages of queues">
          <button type="button" disabled={page === 1} onClick={() => setPage(page - 1)}>
            Previous
          </button>
          <span>
            Page {page} of {pages}
          </span>
          <button type="button" disabled={page === pages} onClick={() => setPage(page + 1)}>
            Next
          </button>
        </nav>
      )}
    </div>
  );
}
