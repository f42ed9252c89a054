import { useState } from "preact/hooks";
import type { MoveView, QueueView } from "./api.ts";
import { plural } from "./format.ts";
import { useTargets } from "./use-targets.ts";

interface RedriveProps {
  readonly queue: QueueView;
  readonly isBusy: boolean;
  /** @param to `null` gives each message back to the queue that it came from. */
  readonly start: (to: string | null) => void;
  readonly cancel: () => void;
}

const FAILURES: Readonly<Record<NonNullable<MoveView["failure"]>, string>> = {
  targetNotFound: "a queue that messages go to does not exist",
  sourceUnknown: "a message does not say which queue it came from: choose one",
  tookTooLong: "it took too long",
};

/** Dead letters on their way back. */
export function Redrive({ queue, isBusy, start, cancel }: RedriveProps) {
  const { lastMove, messages, deadLettersOf } = queue;
  const { targets, look } = useTargets(queue);
  const canReturn = deadLettersOf.queues.length > 0;
  const [chosen, setChosen] = useState("");
  // What came by a topic does not know a queue to go back to.
  const target = chosen !== "" || canReturn ? chosen : (targets[0] ?? "");
  const isNowhere = target === "" && !canReturn;
  const isRunning = lastMove?.status === "running";
  return (
    <form
      class="row"
      onSubmit={(event) => {
        event.preventDefault();
        start(target === "" ? null : target);
      }}
    >
      <label for="redrive-target">Move dead letters to</label>
      <select
        id="redrive-target"
        value={target}
        disabled={isRunning}
        onFocus={look}
        onChange={(event) => setChosen(event.currentTarget.value)}
      >
        {canReturn ? <option value="">where each came from</option> : null}
        {targets.map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
      <button type="submit" disabled={isBusy || isRunning || isNowhere || messages.ready === 0}>
        Redrive
      </button>
      {isRunning ? (
        <button type="button" disabled={isBusy} onClick={cancel}>
          Cancel
        </button>
      ) : null}
      {lastMove === null ? null : <span class="quiet">{moveText(lastMove)}</span>}
    </form>
  );
}

function moveText({ status, moved, toMove, failure }: MoveView): string {
  const done = `${moved.toLocaleString("en")} of ${plural(toMove, "message")}`;
  switch (status) {
    case "running":
      return `Moving: ${done}.`;
    case "completed":
      return `Last time: ${done} moved.`;
    case "cancelled":
      return `Last time: cancelled after ${done}.`;
    case "failed":
      return `Last time: failed after ${done}${failure === null ? "" : `, ${FAILURES[failure]}`}.`;
  }
}
