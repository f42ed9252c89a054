import { plural } from "@sluice/protocol/words";
import { useState } from "preact/hooks";
import { call, type QueueView, queuePath } from "../api/call.ts";
import { useTargets } from "../api/use-targets.ts";
import { FilterTerms } from "../page/help.tsx";
import { FormDialog } from "../ui/form-dialog.tsx";
import { PreviewText, usePreview } from "./preview.tsx";

interface RedriveDialogProps {
  readonly queue: QueueView;
  /** The messages that were chosen already. Default: the dialog asks for a filter and a limit. */
  readonly chosen?: object | undefined;
  /** Filter that the field begins with. */
  readonly filter?: string;
  readonly started: (text: string) => void;
  readonly closed: () => void;
}

/**
 * Moves dead letters: all of them, those that fit a filter, or those that were chosen. It says how many and which
 * before it moves any.
 */
export function RedriveDialog({
  queue,
  chosen: selected,
  filter: listed = "",
  started,
  closed,
}: RedriveDialogProps) {
  const { name, deadLettersOf } = queue;
  const targets = useTargets(queue);
  const canReturn = deadLettersOf.queues.length > 0;
  const [chosen, setChosen] = useState("");
  const [filter, setFilter] = useState(listed);
  const [limit, setLimit] = useState("");
  // Messages that came by a topic have no queue to go back to.
  const to = chosen !== "" || canReturn ? chosen : (targets[0] ?? "");
  const request = {
    ...(to === "" ? {} : { to }),
    ...(filter.trim() === "" ? {} : { filter: filter.trim() }),
    ...(limit === "" ? {} : { limit: Number(limit) }),
    ...selected,
  };
  const path = `${queuePath(name)}/redrive`;
  const preview = usePreview(path, request);
  const count = preview.kind === "counted" ? preview.count : 0;
  return (
    <FormDialog
      title={`Redrive messages of ${name}`}
      label={count === 0 ? "Redrive" : `Redrive ${plural(count, "message")}`}
      isDisabled={count === 0}
      submit={async () => {
        await call(path, "POST", request);
        started(`A redrive of ${plural(count, "message")}${to === "" ? "" : ` to ${to}`} was begun.`);
      }}
      closed={closed}
    >
      {selected === undefined ? (
        <div class="field">
          <label for="redrive-filter">Only messages that fit</label>
          <input
            id="redrive-filter"
            type="search"
            placeholder="every message; or: error:timeout"
            autoComplete="off"
            spellcheck={false}
            // biome-ignore lint/a11y/noAutofocus: the field is in a dialog.
            autoFocus
            value={filter}
            aria-invalid={preview.kind === "refused"}
            aria-describedby="redrive-preview"
            onInput={(event) => setFilter(event.currentTarget.value)}
          />
          <details>
            <summary class="quiet">What can be looked for</summary>
            <FilterTerms />
          </details>
        </div>
      ) : null}
      <div class="columns">
        <div class="field">
          <label for="redrive-target">Move them to</label>
          <select id="redrive-target" value={to} onChange={(event) => setChosen(event.currentTarget.value)}>
            {canReturn ? <option value="">where each came from</option> : null}
            {targets.map((target) => (
              <option key={target} value={target}>
                {target}
              </option>
            ))}
          </select>
        </div>
        {selected === undefined ? (
          <div class="field">
            <label for="redrive-limit">At most</label>
            <input
              id="redrive-limit"
              type="number"
              min={1}
              placeholder="all that fit"
              value={limit}
              onInput={(event) => setLimit(event.currentTarget.value)}
            />
          </div>
        ) : null}
      </div>
      <div id="redrive-preview" role="status">
        <PreviewText preview={preview} would="moved. Nothing is moved yet." />
      </div>
    </FormDialog>
  );
}
