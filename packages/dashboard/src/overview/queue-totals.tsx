import type { QueueView } from "../api/call.ts";
import { Figures } from "../ui/facts.tsx";
import { Count } from "../ui/table.tsx";
import { type QueueState, type StateFilter, totalsOf } from "./trouble.ts";

interface QueueTotalsProps {
  readonly queues: readonly QueueView[];
  /** Shows the queues of a state. */
  readonly setState: (state: StateFilter) => void;
}

/** Totals of all queues. A number of queues leads to these. */
export function QueueTotals({ queues, setState }: QueueTotalsProps) {
  const { waiting, deadLetters, queues: counts } = totalsOf(queues);
  const queuesIn = (label: string, state: QueueState, count = counts[state]) => ({
    label,
    value:
      count === 0 ? (
        <Count of={0} />
      ) : (
        <button
          type="button"
          class="plain"
          aria-label={`${count.toLocaleString("en")} ${label.toLowerCase()}, show them`}
          onClick={() => setState(state)}
        >
          {count.toLocaleString("en")}
        </button>
      ),
  });
  return (
    <Figures
      of={[
        { label: "Messages waiting", value: <Count of={waiting} /> },
        queuesIn("Dead letters", "dead letters", deadLetters),
        queuesIn("Failing queues", "failing"),
        queuesIn("Ageing queues", "ageing"),
        queuesIn("Paused queues", "paused"),
      ]}
    />
  );
}
