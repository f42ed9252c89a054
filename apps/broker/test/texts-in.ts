/** Lists all texts of an answer, names of members too, with the names of the members that lead to each. */
export function textsIn(
  value: unknown,
  path: readonly string[] = [],
): { path: readonly string[]; text: string }[] {
  if (typeof value === "string") return [{ path, text: value }];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, its]) => [
    { path, text: name },
    ...textsIn(its, [...path, name]),
  ]);
}
