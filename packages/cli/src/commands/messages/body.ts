import { readFile } from "node:fs/promises";
import { isAbsolute, join } from "node:path";
import { buffer } from "node:stream/consumers";
import { CliError, EXIT_FAILED, EXIT_USAGE } from "@sluice/project/errors";
import type { Surroundings } from "../../surroundings.ts";

/** Content types that a command can send. */
export const SENT_TYPES = ["json", "text", "bytes"] as const;
export type SentType = (typeof SENT_TYPES)[number];

/** Source of a body on a command line. */
export interface BodyOptions {
  readonly body?: string;
  /** Path of a file, or `-` for standard input. */
  readonly file?: string;
}

/** Reads the body that a command line names; `null` where it names none. */
export async function bytesOf(
  { body, file }: BodyOptions,
  { cwd, input }: Pick<Surroundings, "cwd" | "input">,
): Promise<Uint8Array | null> {
  if (body !== undefined && file !== undefined) throw new CliError("Either --body or --file.", EXIT_USAGE);
  if (body !== undefined) return new TextEncoder().encode(body);
  if (file === undefined) return null;
  if (file === "-") return buffer(input);
  const path = isAbsolute(file) ? file : join(cwd, file);
  try {
    return await readFile(path);
  } catch (error) {
    throw new CliError(
      `${file} cannot be read: ${error instanceof Error ? error.message : error}`,
      EXIT_FAILED,
    );
  }
}

/** Encodes a body for the API. Throws a `CliError` with `EXIT_USAGE` for bytes that do not fit the content type. */
export function bodyIn(bytes: Uint8Array, contentType: SentType): { text: string } | { base64: string } {
  if (contentType === "bytes") return { base64: Buffer.from(bytes).toString("base64") };
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new CliError("The body is not UTF-8 text: --content-type bytes sends it as it is.", EXIT_USAGE);
  }
  if (contentType === "json") checkJson(text);
  return { text };
}

function checkJson(text: string): void {
  try {
    JSON.parse(text);
  } catch (error) {
    const why = error instanceof Error ? error.message : error;
    throw new CliError(`The body is not JSON (${why}): --content-type text sends it as it is.`, EXIT_USAGE);
  }
}
