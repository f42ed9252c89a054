import { plural } from "@sluice/protocol/words";
import { useEffect, useRef, useState } from "preact/hooks";
import { call, errorText, type MessageView, type MoveView, type QueueView, queuePath } from "../api/call.ts";
import { useTargets } from "../api/use-targets.ts";
import { FilterTerms } from "../page/help.tsx";
import { shortId } from "../text/format.ts";
import { FormDialog } from "../ui/form-dialog.tsx";

interface RedriveDialogProps {
  readonly queue: QueueView;
  readonly started: (text: string) => void;
  readonly closed: () => void;
}

/** State of the dry run of a redrive, with the messages that it would move. */
type Preview =
  | { readonly kind: "looking" }
  | { readonly kind: "refused"; readonly text: string }
  | {
      readonly kind: "counted";
      readonly count: number;
      readonly messages: readonly MessageView[];
      /** Whether there may be more. */
      readonly isMore: boolean;
    };

/** Pause in the typing after which messages are counted again, in ms. */
const PAUSE_MS = 300;
/** Most messages that are shown of those that would be moved. */
const SHOWN_MAX = 5;

/** Moves dead letters: all of them, or those that fit a filter. It says how many and which before it moves any. */
export function RedriveDialog({ queue, started, closed }: RedriveDialogProps) {
  const { name, deadLettersOf } = queue;
  const targets = useTargets(queue);
  const canReturn = deadLettersOf.queues.length > 0;
  const [chosen, setChosen] = useState("");
  const [filter, setFilter] = useState("");
  const [limit, setLimit] = useState("");
  // Messages that came by a topic have no queue to go back to.
  const to = chosen !== "" || canReturn ? chosen : (targets[0] ?? "");
  const request = {
    ...(to === "" ? {} : { to }),
    ...(filter.trim() === "" ? {} : { filter: filter.trim() }),
    ...(limit === "" ? {} : { limit: Number(limit) }),
  };
  const preview = usePreview(name, request);
  const count = preview.kind === "counted" ? preview.count : 0;
  return (
    <FormDialog
      title={`Redrive messages of ${name}`}
      label={count === 0 ? "Redrive" : `Redrive ${plural(count, "message")}`}
      isDisabled={count === 0}
      submit={async () => {
        const { move } = await call<{ move: MoveView }>(`${queuePath(name)}/redrive`, "POST", request);
        started(`${plural(move.toMove, "message")} on the way${to === "" ? "" : ` to ${to}`}.`);
      }}
      closed={closed}
    >
      <div class="field">
        <label for="redrive-filter">Only messages that fit</label>
        <input
          id="redrive-filter"
          type="search"
          placeholder="every message; or: lamp  attempts:>2  from:orders"
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
      </div>
      <div id="redrive-preview" role="status">
        <PreviewText preview={preview} />
      </div>
    </FormDialog>
  );
}

function PreviewText({ preview }: { readonly preview: Preview }) {
  switch (preview.kind) {
    case "looking":
      return <p class="quiet">Counting</p>;
    case "refused":
      return <p class="lost">{preview.text}</p>;
    case "counted":
      return (
        <>
          <p>
            <strong>
              {preview.isMore ? "At least " : ""}
              {plural(preview.count, "message")}
            </strong>{" "}
            would be moved. Nothing is moved yet.
          </p>
          <ul class="plain">
            {preview.messages.map(({ ref, id, text, contentType }) => (
              <li key={ref} class="row">
                <span class="mono">{shortId(id)}</span>
                <code class="preview">{text ?? contentType}</code>
              </li>
            ))}
          </ul>
        </>
      );
  }
}

interface DryRun {
  readonly count: number;
  readonly messages: readonly MessageView[];
  readonly cursor: string | null;
}

/** Calls that one count may take: each goes through messages for a tenth of a second. */
const CALLS_MAX = 100;

/** Counts the messages that a redrive would move, in as many calls as that takes, `CALLS_MAX` at most. */
async function tryOut(name: string, request: object, isOver: () => boolean): Promise<Preview> {
  const path = `${queuePath(name)}/redrive`;
  let found: DryRun = { count: 0, messages: [], cursor: null };
  for (let calls = 0; calls < CALLS_MAX && !isOver(); calls++) {
    const from = found.cursor === null ? {} : { cursor: found.cursor };
    const { count, messages, cursor } = await call<DryRun>(path, "POST", {
      ...request,
      ...from,
      dryRun: true,
    });
    found = {
      count: found.count + count,
      messages: [...found.messages, ...messages].slice(0, SHOWN_MAX),
      cursor,
    };
    if (cursor === null) break;
  }
  return { kind: "counted", count: found.count, messages: found.messages, isMore: found.cursor !== null };
}

/** Counts what a redrive would move, again after each pause in the typing. */
function usePreview(name: string, request: object): Preview {
  const [preview, setPreview] = useState<Preview>({ kind: "looking" });
  const key = JSON.stringify(request);
  const asked = useRef(0);
  useEffect(() => {
    const ask = ++asked.current;
    const show = (next: Preview) => ask === asked.current && setPreview(next);
    setPreview({ kind: "looking" });
    const timer = setTimeout(() => {
      tryOut(name, request, () => ask !== asked.current).then(show, (error: unknown) =>
        show({ kind: "refused", text: errorText(error) }),
      );
    }, PAUSE_MS);
    return () => clearTimeout(timer);
  }, [name, key]);
  return preview;
}
