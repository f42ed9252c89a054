import { Buffer } from "node:buffer";
import type { BackupMessage } from "@sluice/gateway/views";
import { decodeBody } from "@sluice/protocol";
import { idOf } from "../message.ts";
import type { PulledMessage } from "./queues-api.ts";

/**
 * Reads a pulled message. A body of content type `text` comes as it is, all others in base64.
 */
export function foreignOf(pulled: PulledMessage): BackupMessage | { readonly unreadable: string } {
  const { id, timestamp_ms, metadata } = pulled;
  const body = bodyOf(String(metadata?.["CF-Content-Type"] ?? "v8").toLowerCase(), pulled.body);
  if (body === null) return { unreadable: "their bodies cannot be read" };
  const sentAt = new Date(timestamp_ms > 0 ? timestamp_ms : Date.now()).toISOString();
  return { id: idOf(id), sentAt, attempts: 0, delaySeconds: 0, ...body };
}

type Body = Pick<BackupMessage, "contentType" | "text" | "base64">;

function bodyOf(contentType: string, body: string): Body | null {
  if (contentType === "text") return { contentType, text: body };
  const bytes = bytesIn(body);
  if (contentType === "json") {
    // In some answers of Cloudflare the body has been the JSON itself.
    const text = [bytes === null ? null : textIn(bytes), body].find((each) => each !== null && isJson(each));
    return text == null ? null : { contentType, text };
  }
  if (bytes === null) return null;
  if (contentType === "bytes") return { contentType, base64: body };
  return contentType === "v8" && isV8(bytes) ? { contentType, base64: body } : null;
}

function bytesIn(base64: string): Buffer | null {
  const bytes = Buffer.from(base64, "base64");
  return bytes.toString("base64") === base64 ? bytes : null;
}

function textIn(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

/** Whether a Worker can read the body, as it will be stored. */
function isV8(bytes: Uint8Array): boolean {
  try {
    decodeBody(bytes, "v8");
    return true;
  } catch {
    return false;
  }
}

/** Whether a text is JSON. */
export function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
