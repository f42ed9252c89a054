import { useCallback, useEffect, useState } from "preact/hooks";
import { call, type MoveView, type QueueView } from "../api.ts";
import { plural } from "../format.ts";

interface RedriveProps {
  readonly queue: QueueView;
  readonly isBusy: boolean;
  /** @param to `null` returns each message to the queue that it came from. */
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

/**
 * Where dead letters can be moved to: queues of the same kind, those that they come from first. All queues are asked
 * for when the page is opened and when somebody looks: to do so once a second would keep each of them awake.
 */
function useTargets({ name, kind, deadLettersOf }: QueueView): {
  readonly targets: readonly string[];
  readonly look: () => void;
} {
  const [others, setOthers] = useState<readonly string[]>([]);
  const look = useCallback(() => {
    call<{ queues: QueueView[] }>("/queues").then(
      ({ queues }) => setOthers(queues.filter((other) => other.kind === kind).map((other) => other.name)),
      // The page itself says that the broker does not answer.
      () => {},
    );
  }, [kind]);
  useEffect(look, [look]);
  const names = others.filter((other) => other !== name);
  const isSource = (other: string) => deadLettersOf.queues.includes(other);
  const sources = names.filter(isSource);
  return { targets: [...sources, ...names.filter((other) => !isSource(other))], look };
}
