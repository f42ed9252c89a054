import { userPlace } from "@sluice/protocol/stack";

/** Makes the reason in an event's line: the first line of its error, with the place in the user's code. */
export function reasonOf(error: string): string {
  const [line = ""] = error.split("\n");
  const place = userPlace(error);
  return place === null ? line : `${line} (${place})`;
}
