import type { z } from "zod";
import { type Place, placeOf, type Report } from "../file/report.ts";
import { isTable } from "../file/table.ts";

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
        report.error(placeOf(issuePlace, key), `Unknown key "${key}" in "${issuePlace.field}".`);
      }
    } else {
      const found = valueAt(value, issue.path);
      report.fieldError(issuePlace, `should be ${issue.message} but got ${found}.`);
    }
  }
  return undefined;
}

/** The value that an issue is about, for its message. JSON has no word for `nan` and `inf`, which TOML allows. */
function valueAt(root: unknown, path: readonly PropertyKey[]): string {
  const value = path.reduce<unknown>(
    (at, key) => (isTable(at) || Array.isArray(at) ? Reflect.get(at, key) : undefined),
    root,
  );
  return typeof value === "number" ? String(value) : JSON.stringify(value);
}
