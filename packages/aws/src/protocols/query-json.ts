import { toBase64 } from "../values/base64.ts";
import type { Shape, StructureShape } from "./shape.ts";

/** Names of members that differ from those in other protocols: `Messages` is `messages`. */
export type QueryJsonNames = Readonly<Record<string, string>>;

/**
 * Writes an answer of the Query protocol for a client that accepts JSON (spec sqs 1.3): the members of the XML, lists
 * as lists, maps as lists of names and values, and `null` for absent members.
 */
export function queryJsonAnswer(
  action: string,
  output: { readonly shape: StructureShape; readonly value: object } | null,
  names: QueryJsonNames,
  requestId: string,
): string {
  const result = output === null ? {} : { [`${action}Result`]: write(output.shape, output.value, names) };
  return JSON.stringify({ [`${action}Response`]: { ...result, ResponseMetadata: { RequestId: requestId } } });
}

/** Writes an error of the Query protocol for a client that accepts JSON. */
export function queryJsonError(
  { type, code, message }: { readonly type: string; readonly code: string; readonly message: string },
  requestId: string,
): string {
  return JSON.stringify({
    Error: { Type: type, Code: code, Message: message, Detail: null },
    RequestId: requestId,
  });
}

function write(shape: Shape, value: unknown, names: QueryJsonNames): unknown {
  if (value === undefined || value === null) return null;
  switch (shape.type) {
    case "structure": {
      const given = value as Record<string, unknown>;
      const members = Object.entries(shape.members);
      return Object.fromEntries(
        members.map(([name, member]) => [names[name] ?? name, write(member, given[name], names)]),
      );
    }
    case "list": {
      const elements = value as readonly unknown[];
      return elements.length === 0 ? null : elements.map((each) => write(shape.member, each, names));
    }
    case "map": {
      const entries = Object.entries(value);
      if (entries.length === 0) return null;
      return entries.map(([key, each]) => ({
        [shape.keyName]: key,
        [shape.valueName]: write(shape.value, each, names),
      }));
    }
    case "blob":
      return toBase64(value as Uint8Array);
    default:
      return value;
  }
}
