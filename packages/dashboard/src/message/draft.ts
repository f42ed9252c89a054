import { base64Of, bytesOfHex } from "../text/hex.ts";
import { scanJson } from "../text/json-scan.ts";

/** Content types of messages that can be written by hand. */
export const WRITABLE = ["json", "text", "bytes"] as const;
type Writable = (typeof WRITABLE)[number];

/** A message as it is typed. */
export interface Draft {
  readonly contentType: Writable;
  readonly text: string;
  /** In seconds, as it was typed. Blank: the delay that the queue has. */
  readonly delay: string;
  /** The message group; `null` where none is asked for: on a standard queue, and for a message that is sent again. */
  readonly group: string | null;
}

/** Result of the check of a draft: the request for the API, or the field that is wrong and why. */
export type Checked =
  | { readonly ok: true; readonly request: SendRequest }
  | { readonly ok: false; readonly field: "body" | "delay" | "group"; readonly text: string };

export interface SendRequest {
  /** A text, or JSON without blanks between its pieces. To parse it would round its numbers. */
  readonly text?: string;
  /** Bytes in base64. */
  readonly body?: string;
  readonly contentType: Writable;
  readonly delaySeconds?: number;
  readonly group?: string;
}

const DELAY_SECONDS_MAX = 86_400;

/** Checks whether a draft can be sent. */
export function checkDraft({ contentType, text, delay, group }: Draft): Checked {
  const isDelay = delay.trim() === "" || (/^\d+$/.test(delay.trim()) && Number(delay) <= DELAY_SECONDS_MAX);
  if (!isDelay) {
    const problem = `The delay is a whole number of seconds, ${DELAY_SECONDS_MAX.toLocaleString("en")} at most.`;
    return { ok: false, field: "delay", text: problem };
  }
  if (group === "") return { ok: false, field: "group", text: "A message of a FIFO queue needs a group." };
  const more = {
    ...(delay.trim() === "" ? {} : { delaySeconds: Number(delay) }),
    ...(group === null ? {} : { group }),
  };
  switch (contentType) {
    case "json": {
      const scanned = scanJson(text);
      if (scanned.ok) {
        const compact = scanned.tokens.map(({ text }) => text).join("");
        return { ok: true, request: { text: compact, contentType, ...more } };
      }
      const { line, column, message } = scanned;
      return { ok: false, field: "body", text: `Line ${line}, column ${column}: ${message}` };
    }
    case "text":
      return { ok: true, request: { text, contentType, ...more } };
    case "bytes": {
      const bytes = bytesOfHex(text);
      return bytes === null
        ? { ok: false, field: "body", text: "Bytes are pairs of hexadecimal digits, such as 48 65 6c 6c 6f." }
        : { ok: true, request: { body: base64Of(bytes), contentType, ...more } };
    }
  }
}
