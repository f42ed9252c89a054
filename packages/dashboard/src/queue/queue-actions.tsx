import { plural } from "@sluice/protocol/words";
import { useState } from "preact/hooks";
import { call, type QueueView, queuePath } from "../api/call.ts";
import { FaultsDialog } from "../development/faults-dialog.tsx";
import { useDevelopment } from "../development/use-development.tsx";
import { moveText } from "../redrive/last-move.ts";
import { RedriveDialog } from "../redrive/redrive-dialog.tsx";
import { ConfirmButton } from "../ui/confirm-button.tsx";
import { OutcomeLine } from "../ui/outcome.tsx";
import { useAction } from "../ui/use-action.ts";

interface QueueActionsProps {
  readonly queue: QueueView;
  /** Filter of the list that is shown; empty for none. */
  readonly filter: string;
  readonly send: () => void;
  readonly refresh: () => void;
}

/** Offers the actions that an operator of a queue performs by hand. */
export function QueueActions({ queue, filter, send, refresh }: QueueActionsProps) {
  const { outcome, isBusy, run } = useAction(refresh);
  const [isRedriving, setIsRedriving] = useState(false);
  const [isFaulting, setIsFaulting] = useState(false);
  const isDevelopment = useDevelopment().clock !== null;
  const { name, consumer, messages, settings, deadLettersOf, lastMove } = queue;
  const post = <Answer,>(path: string, textOf: (answer: Answer) => string) =>
    run(async () => textOf(await call<Answer>(`${queuePath(name)}/${path}`, "POST")));
  const held = messages.ready + messages.delayed + messages.leased;
  const takesDeadLetters = deadLettersOf.queues.length + deadLettersOf.subscriptions.length > 0;
  const keepsFinished = settings.finishedMessages > 0;
  const inQueue = `It holds ${plural(held, "message")} now.${keepsFinished ? " Finished ones go too." : ""}`;
  const isMoving = lastMove?.status === "running";
  return (
    <section aria-label="Actions" aria-busy={isBusy} class="stack">
      <div class="row">
        <button type="button" class="primary" onClick={send}>
          Send a message
        </button>
        {isMoving || takesDeadLetters ? (
          <button
            type="button"
            onClick={() =>
              isMoving
                ? post("redrive/cancel", () => "The redrive was ended. What had left stays where it went.")
                : setIsRedriving(true)
            }
          >
            {isMoving ? "Cancel the redrive" : "Redrive"}
          </button>
        ) : null}
        <button
          type="button"
          onClick={() =>
            settings.deliveryPaused
              ? post("resume", () => "Delivery was resumed.")
              : post("pause", () => "Delivery was paused. What is under way ends.")
          }
        >
          {settings.deliveryPaused ? "Resume delivery" : "Pause delivery"}
        </button>
        {isDevelopment && consumer !== null && consumer.type !== "http_pull" ? (
          <button type="button" onClick={() => setIsFaulting(true)}>
            Faults
          </button>
        ) : null}
        <ConfirmButton
          label="Purge"
          isDangerous
          question={`Delete all messages of "${name}" for good? ${inQueue}`}
          run={() =>
            post<{ purged: number }>(
              "purge",
              ({ purged }) =>
                `${plural(purged, "message")} deleted${keepsFinished ? ", finished ones too" : ""}.`,
            )
          }
        />
        {lastMove === null ? null : <span class="quiet">{moveText(lastMove)}</span>}
      </div>
      <OutcomeLine of={outcome} />
      {isFaulting ? (
        <FaultsDialog
          queue={queue}
          done={(text) => void run(async () => text)}
          closed={() => setIsFaulting(false)}
        />
      ) : null}
      {isRedriving ? (
        <RedriveDialog
          queue={queue}
          filter={filter}
          started={(text) => void run(async () => text)}
          closed={() => setIsRedriving(false)}
        />
      ) : null}
    </section>
  );
}
