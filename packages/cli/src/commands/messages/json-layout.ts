const STRING_OR_BLANKS = /("(?:[^"\\]|\\.)*")|[ \t\r\n]+/g;

/** Lays JSON out in lines, unless its values would change: `JSON.parse` rounds long numbers and drops repeated keys. */
export function laidOut(text: string): string {
  try {
    const value: unknown = JSON.parse(text);
    return JSON.stringify(value) === compact(text) ? JSON.stringify(value, null, 2) : text;
  } catch {
    return text;
  }
}

/** Removes the blanks between the pieces of a JSON text, and nothing else. */
export function compact(text: string): string {
  return text.replace(STRING_OR_BLANKS, (_, string = "") => string);
}
