import { size } from "@sluice/protocol/words";
import { useMemo, useState } from "preact/hooks";
import type { WholeMessageView } from "../api/call.ts";
import { bytesOf, hexDump } from "../text/hex.ts";
import { type JsonToken, layOut, scanJson } from "../text/json-scan.ts";
import { CopyButton } from "../ui/copy-button.tsx";
import { Scrolled } from "../ui/scrolled.tsx";

/** Longest JSON that is shown in colours, in characters: each of its pieces is an element. */
const COLOURED_MAX = 30_000;
/** Bytes that are shown of a body that is no text. */
const HEX_BYTES_MAX = 16_384;

type Shape =
  | { readonly kind: "json"; readonly tokens: readonly JsonToken[] }
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "value"; readonly text: string }
  | { readonly kind: "bytes"; readonly text: string };

/** The body of a message, laid out by its kind. */
export function Body({ message }: { readonly message: WholeMessageView }) {
  const [isRaw, setIsRaw] = useState(false);
  const { text, base64, value, contentType, bytes } = message;
  const shape = useMemo(() => shapeOf(message), [text, value, contentType]);
  const raw = text ?? hexDump(bytesOf(base64 ?? "").subarray(0, HEX_BYTES_MAX));
  const isCut = text === null && bytes > HEX_BYTES_MAX;
  return (
    <section class="card" aria-labelledby="body">
      <header>
        <h2 id="body">Body</h2>
        <span class="row">
          <span class="quiet">
            {contentType}, {size(bytes)}
            {isCut ? `, the first ${size(HEX_BYTES_MAX)} of it` : ""}
          </span>
          {shape.kind === "json" || shape.kind === "value" ? (
            <button type="button" aria-pressed={isRaw} onClick={() => setIsRaw(!isRaw)}>
              As it was sent
            </button>
          ) : null}
          <CopyButton label="Copy body" text={text ?? value ?? base64 ?? ""} />
        </span>
      </header>
      <Scrolled class="body" label="Body">
        <pre>{isRaw || shape.kind === "bytes" || shape.kind === "text" ? raw : <Laid shape={shape} />}</pre>
      </Scrolled>
    </section>
  );
}

function Laid({ shape }: { readonly shape: Extract<Shape, { kind: "json" | "value" }> }) {
  if (shape.kind === "value") return <>{shape.text}</>;
  const laid = layOut(shape.tokens);
  const length = laid.reduce((sum, { text }) => sum + text.length, 0);
  if (length > COLOURED_MAX) return <>{laid.map(({ text }) => text).join("")}</>;
  return (
    <>
      {laid.map(({ kind, text }, i) =>
        kind === "mark" ? (
          text
        ) : (
          <span key={i} class={`json-${kind}`}>
            {text}
          </span>
        ),
      )}
    </>
  );
}

function shapeOf({ text, value, contentType }: WholeMessageView): Shape {
  if (text !== null) {
    // Clients of SQS send JSON as text.
    const scanned = /^\s*[[{"]/.test(text) || contentType === "json" ? scanJson(text) : null;
    return scanned?.ok ? { kind: "json", tokens: scanned.tokens } : { kind: "text", text };
  }
  return value === undefined ? { kind: "bytes", text: "" } : { kind: "value", text: value };
}
