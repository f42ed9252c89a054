import { AwsError, COMMON_ERRORS } from "../aws-error.ts";
import { fromBase64, toBase64 } from "../values/base64.ts";
import type { Shape, StructureShape, ValueOf } from "./shape.ts";

/**
 * Reads the input of an action from the body of an AWS JSON 1.0 request (spec sqs 1.2). Members that the shape does not
 * know are left alone, `null` counts as absent. Throws `AwsError` (`SerializationException`) in AWS's words for text
 * that is no JSON and for values of another type.
 */
export function readJsonInput<S extends StructureShape>(shape: S, body: string): ValueOf<S> {
  return (read(shape, parsed(body)) ?? {}) as ValueOf<S>;
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    if (body.trim() === "") return {};
    throw malformed("The request body is not valid JSON.");
  }
}

/** Writes an answer as JSON: blobs as base64, without members that are `undefined`, an empty list or an empty map. */
export function jsonOf(shape: StructureShape, output: object): string {
  return JSON.stringify(write(shape, output) ?? {});
}

function read(shape: Shape, value: unknown): unknown {
  if (value === null || value === undefined) return undefined;
  switch (shape.type) {
    case "structure":
      if (!isObject(value)) throw malformed(refusal(value, "structure"));
      return readStructure(shape, value);
    case "map": {
      if (!isObject(value)) throw malformed(refusal(value, "structure"));
      return membersOf(Object.entries(value).map(([key, each]) => [key, read(shape.value, each)]));
    }
    case "list":
      if (!Array.isArray(value)) throw malformed(refusal(value, "list"));
      return value.map((each) => read(shape.member, each)).filter(isPresent);
    case "string":
      if (typeof value !== "string") throw malformed(refusal(value, "String"));
      return value;
    case "integer":
      if (typeof value !== "number") throw malformed(refusal(value, "Integer"));
      if (!Number.isSafeInteger(value)) throw malformed("FLOAT_VALUE can not be converted to an Integer");
      return value;
    case "boolean":
      if (typeof value !== "boolean") throw malformed(refusal(value, "Boolean"));
      return value;
    case "blob": {
      const bytes = typeof value === "string" ? fromBase64(value) : null;
      if (bytes === null) throw malformed("a binary value must be base64");
      return bytes;
    }
  }
}

/** Only names that the shape has get in, so nothing can reach the prototype. */
function readStructure({ members }: StructureShape, value: Record<string, unknown>): object {
  return membersOf(
    Object.entries(value).map(([name, each]) => {
      const member = Object.hasOwn(members, name) ? members[name] : undefined;
      return [name, member === undefined ? undefined : read(member, each)];
    }),
  );
}

function write(shape: Shape, value: unknown): unknown {
  if (value === undefined || value === null) return undefined;
  switch (shape.type) {
    case "structure": {
      const given = value as Record<string, unknown>;
      return membersOf(
        Object.entries(shape.members).map(([name, member]) => [name, write(member, given[name])]),
      );
    }
    case "map": {
      const entries = Object.entries(value as object);
      return entries.length === 0
        ? undefined
        : membersOf(entries.map(([key, each]) => [key, write(shape.value, each)]));
    }
    case "list": {
      const elements = value as readonly unknown[];
      return elements.length === 0
        ? undefined
        : elements.map((each) => write(shape.member, each)).filter(isPresent);
    }
    case "blob":
      return toBase64(value as Uint8Array);
    default:
      return value;
  }
}

/** Makes an object of the members that have a value. */
function membersOf(entries: readonly (readonly [name: string, value: unknown])[]): object {
  return Object.fromEntries(entries.filter(([, value]) => isPresent(value)));
}

function isPresent(value: unknown): boolean {
  return value !== undefined;
}

function refusal(value: unknown, wanted: "structure" | "list" | "String" | "Integer" | "Boolean"): string {
  if (wanted === "structure") {
    return Array.isArray(value)
      ? "Start of list found where not expected"
      : `Unrecognized collection type class java.lang.${javaClassOf(value)}`;
  }
  if (wanted === "list") {
    return isObject(value)
      ? "Start of structure or map found where not expected."
      : `Unrecognized collection type class java.lang.${javaClassOf(value)}`;
  }
  if (Array.isArray(value)) return "Start of list found where not expected";
  if (isObject(value)) return "Start of structure or map found where not expected.";
  return `${tokenOf(value)} can not be converted to ${wanted === "Integer" ? "an" : "a"} ${wanted}`;
}

function tokenOf(value: unknown): string {
  if (typeof value === "string") return "STRING_VALUE";
  if (typeof value === "boolean") return value ? "TRUE_VALUE" : "FALSE_VALUE";
  return "NUMBER_VALUE";
}

function javaClassOf(value: unknown): string {
  if (typeof value === "string") return "String";
  return typeof value === "boolean" ? "Boolean" : "Integer";
}

/** Whether a value of JSON is an object: no list, and not `null`. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function malformed(text: string): AwsError {
  return new AwsError(COMMON_ERRORS.serialization, text);
}
