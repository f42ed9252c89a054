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
  const done = `${moved.toLocaleString("en")} of ${plural(toMove, "message")}`;
  switch (status) {
    case "running":
      return `Redriving: ${done}.`;
    case "completed":
      return `Last redrive: ${done} moved.`;
    case "cancelled":
      return `Last redrive: cancelled after ${done}.`;
    case "failed":
      return `Last redrive: failed after ${done}${failure === null ? "" : `, ${FAILURES[failure]}`}.`;
  }
}
