import { plural } from "@sluice/protocol/words";
import { useEffect, useRef, useState } from "preact/hooks";
import { call, errorText, type MessageView } from "../api/call.ts";
import { shortId } from "../text/format.ts";

/** State of a dry run, with messages that the request would act on. */
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
/** Most messages that are shown of those that were counted. */
const SHOWN_MAX = 5;
/** Calls that one count may take: each goes through messages for a tenth of a second. */
const CALLS_MAX = 100;

export function PreviewText({ preview, would }: { readonly preview: Preview; readonly would: string }) {
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
            would be {would}
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

/** Request for messages that are chosen. */
interface Selected {
  /** Most messages. Default: all. */
  readonly limit?: number;
}

interface DryRun {
  readonly count: number;
  readonly messages: readonly MessageView[];
  readonly cursor: string | null;
}

/** Counts the messages of a request, in as many calls as that takes, `CALLS_MAX` at most. Does nothing to them. */
async function tryOut(path: string, request: Selected, isOver: () => boolean): Promise<Preview> {
  const { limit = Number.POSITIVE_INFINITY } = request;
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
    if (cursor === null || found.count >= limit) break;
  }
  const { count, messages, cursor } = found;
  return {
    kind: "counted",
    count: Math.min(count, limit),
    messages,
    isMore: cursor !== null && count < limit,
  };
}

/** Counts the messages that a request would act on, again after each pause in the typing. */
export function usePreview(path: string, request: Selected): Preview {
  const [preview, setPreview] = useState<Preview>({ kind: "looking" });
  const key = JSON.stringify(request);
  const asked = useRef(0);
  useEffect(() => {
    const ask = ++asked.current;
    const show = (next: Preview) => ask === asked.current && setPreview(next);
    setPreview({ kind: "looking" });
    const timer = setTimeout(() => {
      tryOut(path, request, () => ask !== asked.current).then(show, (error: unknown) =>
        show({ kind: "refused", text: errorText(error) }),
      );
    }, PAUSE_MS);
    return () => clearTimeout(timer);
  }, [path, key]);
  return preview;
}
