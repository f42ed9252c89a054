import { AwsError, COMMON_ERRORS } from "./aws-error.ts";
import { fromBase64, toBase64 } from "./base64.ts";
import type { Shape, StructureShape, ValueOf } from "./shape.ts";

/**
 * Reads the input of an action from the body of an AWS JSON 1.0 request (spec sqs 1.2). Members that the shape does not
 * know are left alone, `null` counts as absent. Throws `AwsError` (`SerializationException`) in AWS's words for what is
 * no JSON or has another type.
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

/** An answer as JSON: blobs as base64; what is `undefined`, an empty list or an empty map is left out. */
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
      const result: Record<string, unknown> = Object.create(null);
      for (const [key, element] of Object.entries(value)) {
        const read_ = read(shape.value, element);
        if (read_ !== undefined) result[key] = read_;
      }
      return result;
    }
    case "list":
      if (!Array.isArray(value)) throw malformed(refusal(value, "list"));
      return converted(value, shape.member, read);
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

/*
 * What JSON.parse has made of a request is mostly what is wanted already, and what an action answers is mostly what is
 * written: it is looked at, and copied only from where something has to be another. To copy it took half of the time.
 */

/** Only names that the shape has get in, so nothing can reach the prototype. */
function readStructure({ byName }: StructureShape, value: Record<string, unknown>): object {
  let copy: Record<string, unknown> | null = null;
  for (const name in value) {
    const member = byName.get(name);
    const read_ = member === undefined ? undefined : read(member.shape, value[name]);
    if (copy === null) {
      if (read_ !== undefined && read_ === value[name]) continue;
      copy = membersBefore(name, value);
    }
    if (read_ !== undefined) copy[name] = read_;
  }
  return copy ?? value;
}

function write(shape: Shape, value: unknown): unknown {
  if (value === undefined || value === null) return undefined;
  switch (shape.type) {
    case "structure":
      return writeStructure(shape, value as Record<string, unknown>);
    case "map":
      return writeMap(shape.value, value as Record<string, unknown>);
    case "list": {
      const elements = value as readonly unknown[];
      return elements.length === 0 ? undefined : converted(elements, shape.member, write);
    }
    case "blob":
      return toBase64(value as Uint8Array);
    default:
      return value;
  }
}

/** The members of the shape, in its order. */
function writeStructure({ members, byName }: StructureShape, value: Record<string, unknown>): object {
  let copy: Record<string, unknown> | null = null;
  let position = -1;
  for (const name in value) {
    const member = byName.get(name);
    if (member === undefined || member.position < position) return inOrder(members, value);
    ({ position } = member);
    const written = write(member.shape, value[name]);
    if (copy === null) {
      if (written === value[name]) continue;
      copy = membersBefore(name, value);
    }
    if (written !== undefined) copy[name] = written;
  }
  return copy ?? value;
}

/** `undefined` for a map without entries. */
function writeMap(shape: Shape, value: Record<string, unknown>): object | undefined {
  const keys = Object.keys(value);
  if (keys.length === 0) return undefined;
  if (keys.every((key) => write(shape, value[key]) === value[key])) return value;
  return Object.fromEntries(keys.map((key) => [key, write(shape, value[key])]));
}

function inOrder(members: StructureShape["members"], value: Record<string, unknown>): object {
  const copy: Record<string, unknown> = {};
  for (const name in members) {
    const written = write(members[name] as Shape, value[name]); // one of its own names
    if (written !== undefined) copy[name] = written;
  }
  return copy;
}

function membersBefore(end: string, value: Record<string, unknown>): Record<string, unknown> {
  const copy: Record<string, unknown> = {};
  for (const name in value) {
    if (name === end) break;
    copy[name] = value[name];
  }
  return copy;
}

/** The elements of a list as `convert` makes them, without those of which it makes nothing. */
function converted(list: readonly unknown[], member: Shape, convert: typeof read): readonly unknown[] {
  for (let i = 0; i < list.length; i++) {
    const element = convert(member, list[i]);
    if (element !== undefined && element === list[i]) continue;
    const copy = list.slice(0, i);
    if (element !== undefined) copy.push(element);
    for (const next of list.slice(i + 1)) {
      const made = convert(member, next);
      if (made !== undefined) copy.push(made);
    }
    return copy;
  }
  return list;
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

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function malformed(text: string): AwsError {
  return new AwsError(COMMON_ERRORS.serialization, text);
}
