import { plural } from "@sluice/protocol/words";
import type { MoveView } from "../api/call.ts";

const FAILURES: Readonly<Record<NonNullable<MoveView["failure"]>, string>> = {
  targetNotFound: "a queue that messages go to does not exist",
  sourceUnknown: "a message does not say which queue it came from: choose one",
  notAllowed: "the rest came from queues that its token may not send to",
  tookTooLong: "it took too long",
};

/** Puts the state of the latest redrive into words. */
export function moveText({ status, moved, toMove, failure }: MoveView): string {
  // Until a redrive has ended only the most that it can move is known: it looks for messages as it goes.
  const done = plural(moved, "message");
  switch (status) {
    case "running":
      return `Redriving: ${done} so far, of ${toMove.toLocaleString("en")} at most.`;
    case "completed":
      return `Last redrive: ${moved.toLocaleString("en")} of ${plural(toMove, "message")} moved.`;
    case "cancelled":
      return `Last redrive: cancelled after ${done}.`;
    case "failed":
      return `Last redrive: failed after ${done}${failure === null ? "" : `, ${FAILURES[failure]}`}.`;
  }
}
