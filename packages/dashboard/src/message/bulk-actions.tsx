import { afterDelete, plural } from "@sluice/protocol/words";
import { useRef, useState } from "preact/hooks";
import { call, errorText, type QueueView, queuePath } from "../api/call.ts";
import { PreviewText, usePreview } from "../redrive/preview.tsx";
import { RedriveDialog } from "../redrive/redrive-dialog.tsx";
import { FormDialog } from "../ui/form-dialog.tsx";

/** Actions on many messages besides a move. */
const ACTIONS = {
  retry: {
    label: "Retry now",
    would: () => "due now. Those that are ready or leased stay as they are.",
    counted: "due",
    done: "due now",
  },
  delete: {
    label: "Delete",
    would: (kept: number) => `deleted. ${afterDelete(kept)} Consumers that work on some of them go on.`,
    counted: "deleted",
    done: "deleted",
  },
} as const;
type Action = keyof typeof ACTIONS;

interface BulkActionsProps {
  readonly queue: QueueView;
  /** Number of the chosen messages, in words; empty where the page says it already. */
  readonly count: string;
  /** The chosen messages as the API has them: ids, or a filter. */
  readonly chosen: object;
  readonly done: (text: string) => void;
}

/** Offers the actions on the messages that were chosen. Each says how many and which before it does anything. */
export function BulkActions({ queue, count, chosen, done }: BulkActionsProps) {
  const [open, setOpen] = useState<Action | "redrive" | null>(null);
  const { queues, subscriptions } = queue.deadLettersOf;
  const closed = () => setOpen(null);
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for fields.
    <div class="row" role="group" aria-label="Chosen messages">
      {count === "" ? null : <strong>{count}</strong>}
      {queues.length + subscriptions.length > 0 ? (
        <button type="button" onClick={() => setOpen("redrive")}>
          Redrive
        </button>
      ) : null}
      {queue.messages.delayed > 0 ? (
        <button type="button" onClick={() => setOpen("retry")}>
          Retry now
        </button>
      ) : null}
      <button type="button" class="danger" onClick={() => setOpen("delete")}>
        Delete
      </button>
      {open === "redrive" ? (
        <RedriveDialog queue={queue} chosen={chosen} started={done} closed={closed} />
      ) : open === null ? null : (
        <ActDialog action={open} queue={queue} chosen={chosen} done={done} closed={closed} />
      )}
    </div>
  );
}

interface ActDialogProps extends Pick<BulkActionsProps, "queue" | "chosen" | "done"> {
  readonly action: Action;
  readonly closed: () => void;
}

function ActDialog({ action, queue: { name, settings }, chosen, done, closed }: ActDialogProps) {
  const path = `${queuePath(name)}/messages/${action}`;
  const preview = usePreview(path, chosen);
  const { label, would, counted, done: words } = ACTIONS[action];
  const count = preview.kind === "counted" ? preview.count : 0;
  const isCancelled = useRef(false);
  const [acted, setActed] = useState(0);
  return (
    <FormDialog
      title={`${label}: messages of ${name}`}
      label={count === 0 ? label : `${label}: ${plural(count, "message")}`}
      isDisabled={count === 0}
      isDangerous={action === "delete"}
      submit={async () => {
        let soFar = 0;
        let cursor: string | null = null;
        try {
          do {
            const from: object = cursor === null ? {} : { cursor };
            const answer: { cursor: string | null; due?: number; deleted?: number } = await call(
              path,
              "POST",
              { ...chosen, ...from },
            );
            soFar += answer[counted] ?? 0;
            setActed(soFar);
            cursor = answer.cursor;
          } while (cursor !== null && !isCancelled.current);
        } catch (error) {
          throw soFar === 0
            ? error
            : new Error(`${plural(soFar, "message")} ${words}. Then: ${errorText(error)}`);
        }
        done(`${plural(soFar, "message")} ${words}${cursor === null ? "" : " until it was cancelled"}.`);
      }}
      closed={() => {
        isCancelled.current = true;
        closed();
      }}
    >
      <div role="status">
        {acted === 0 ? (
          <PreviewText preview={preview} would={would(settings.finishedMessages)} />
        ) : (
          <p>{`${plural(acted, "message")} ${words} so far.`}</p>
        )}
      </div>
    </FormDialog>
  );
}
