import { useState } from "preact/hooks";
import { call, type MoveView, type QueueView, queuePath } from "../api.ts";
import { plural } from "../format.ts";
import { ConfirmButton } from "./confirm-button.tsx";
import { Redrive } from "./redrive.tsx";

interface QueueActionsProps {
  readonly queue: QueueView;
  readonly refresh: () => void;
}

/** What came of the last thing that was done. */
type Outcome =
  | { readonly kind: "none" | "busy" }
  | { readonly kind: "done" | "failed"; readonly text: string };

/** What somebody who looks after a queue does by hand. */
export function QueueActions({ queue, refresh }: QueueActionsProps) {
  const [outcome, setOutcome] = useState<Outcome>({ kind: "none" });
  const { name, messages, settings, deadLettersOf } = queue;
  const run = async <Answer,>(path: string, say: (answer: Answer) => string, body?: object) => {
    setOutcome({ kind: "busy" });
    try {
      const answer = await call<Answer>(`${queuePath(name)}/${path}`, "POST", body);
      setOutcome({ kind: "done", text: say(answer) });
    } catch (error) {
      setOutcome({ kind: "failed", text: error instanceof Error ? error.message : String(error) });
    }
    refresh();
  };
  const isBusy = outcome.kind === "busy";
  const held = messages.ready + messages.delayed + messages.leased;
  const takesDeadLetters = deadLettersOf.queues.length + deadLettersOf.subscriptions.length > 0;
  return (
    <section aria-label="Actions">
      <div class="row">
        <button
          type="button"
          disabled={isBusy}
          onClick={() =>
            settings.deliveryPaused
              ? run("resume", () => "Delivery goes on.")
              : run("pause", () => "Nothing is delivered until you resume. What is under way ends.")
          }
        >
          {settings.deliveryPaused ? "Resume delivery" : "Pause delivery"}
        </button>
        <ConfirmButton
          label="Purge"
          isDangerous
          isDisabled={isBusy}
          question={`Delete all messages of "${name}" for good? It holds ${plural(held, "message")} now.`}
          run={() =>
            run<{ purged: number }>("purge", ({ purged }) => `${plural(purged, "message")} deleted.`)
          }
        />
      </div>
      {takesDeadLetters ? (
        <Redrive
          queue={queue}
          isBusy={isBusy}
          start={(to) =>
            run<{ move: MoveView }>(
              "redrive",
              ({ move }) => `${plural(move.toMove, "message")} on the way.`,
              to === null ? {} : { to },
            )
          }
          cancel={() => run("redrive/cancel", () => "The move is ended; what has left stays where it went.")}
        />
      ) : null}
      <p role="status" class={outcome.kind === "failed" ? "outcome lost" : "outcome"}>
        {"text" in outcome ? outcome.text : ""}
      </p>
    </section>
  );
}
