import { suggestion } from "@sluice/protocol/similar";
import * as z from "zod";
import { type Place, placeOf, type Report } from "../file/report.ts";
import { isTable } from "../file/table.ts";
import { WORKER_KEYS } from "./worker-keys.ts";

/** Parses a value, reporting every issue on the line of the key that it is about. */
export function checkShape<T>(
  schema: z.ZodType<T>,
  value: unknown,
  place: Place,
  report: Report,
): T | undefined {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  for (const issue of result.error.issues) {
    const issuePlace = issue.path.reduce<Place>(
      (at, key) => placeOf(at, typeof key === "number" ? key : String(key)),
      place,
    );
    if (issue.code === "unrecognized_keys") {
      for (const key of issue.keys) {
        // In TOML a key belongs to the table above it.
        const advice =
          report.isToml && WORKER_KEYS.has(key)
            ? " Keys of the Worker itself come before the first table."
            : suggestion(key, keysAt(schema, issue.path));
        report.error(placeOf(issuePlace, key), `Unknown key "${key}" in "${issuePlace.field}".${advice}`);
      }
    } else {
      const found = valueAt(value, issue.path);
      report.fieldError(issuePlace, `should be ${issue.message} but got ${found}.`);
    }
  }
  return undefined;
}

/** Lists the keys that the object at a path may have. */
function keysAt(schema: unknown, path: readonly PropertyKey[]): readonly string[] {
  if (schema instanceof z.ZodOptional) return keysAt(schema.unwrap(), path);
  const [key, ...further] = path;
  if (schema instanceof z.ZodArray) return keysAt(schema.element, further);
  if (!(schema instanceof z.ZodObject)) return [];
  return key === undefined ? Object.keys(schema.shape) : keysAt(schema.shape[String(key)], further);
}

/** Formats the value that an issue is about. JSON has no form for `nan` and `inf`, which TOML allows. */
function valueAt(root: unknown, path: readonly PropertyKey[]): string {
  const value = path.reduce<unknown>(
    (at, key) => (isTable(at) || Array.isArray(at) ? Reflect.get(at, key) : undefined),
    root,
  );
  return typeof value === "number" ? String(value) : JSON.stringify(value);
}
