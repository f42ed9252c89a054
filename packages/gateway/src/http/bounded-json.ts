/**
 * Most levels of arrays and objects in the JSON of a request. Code that writes, compares or checks JSON calls itself
 * for each level, and some thousands of levels overflow the stack.
 */
export const JSON_DEPTH_MAX = 1_000;

/**
 * Parses the JSON of a request.
 *
 * @throws SyntaxError for text that is no JSON, and for more than `JSON_DEPTH_MAX` levels.
 */
export function parseJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  if (isDeeper(value, JSON_DEPTH_MAX)) {
    throw new SyntaxError(`Arrays and objects are nested deeper than ${JSON_DEPTH_MAX} levels`);
  }
  return value;
}

/** Whether a value has more than so many levels. Goes through it without recursion. */
function isDeeper(value: unknown, levels: number): boolean {
  let level = [value].filter(isNested);
  for (let depth = 0; level.length > 0; depth++) {
    if (depth === levels) return true;
    level = level.flatMap((each) => Object.values(each).filter(isNested));
  }
  return false;
}

function isNested(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
