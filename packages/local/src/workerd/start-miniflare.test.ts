import { ShardMapError } from "@sluice/protocol";
import { expect, it } from "vitest";
import { printedOf } from "./start-miniflare.ts";

const TRACE =
  "uncaught exception; source = Uncaught (in promise); stack = Error: boom\n    at f (file:///a.ts:1:2)";

it.each([
  "exception = rust/worker/ffi.rs:104: disconnected: Connection refused (os error 111)\nstack: a@1 b@2",
  "exception = kj/compat/http.c++:3000: disconnected: WebSocket disconnected between frames\nstack: a@1",
  "uncaught exception; exception = workerd/jsg/value.h:1456: disconnected: jsg.Error: Network " +
    "connection lost.\nstack: a@1",
  "uncaught exception; source = Uncaught (in promise); stack = Error: Network connection lost.",
])("what is only about a connection that was refused or lost is not printed: %j", (message) => {
  expect(printedOf(message)).toBeNull();
});

it.each(["", "\n    at refuseOtherMap (file:///a.ts:1:2)"])(
  "a later map that a shard has told its caller is not printed: %j",
  (frames) => {
    const stack = `${new ShardMapError("orders", { epoch: 17, open: 4, kept: 4 })}${frames}`;
    expect(printedOf(`uncaught exception; source = Uncaught (in promise); stack = ${stack}`)).toBeNull();
  },
);

it.each([
  [TRACE, TRACE],
  [`${TRACE.replace("boom", "Network connection lost.")}`, TRACE.replace("boom", "Network connection lost.")],
  [
    "exception = a.h:1: failed: jsg.Error: boom\nstack: a@1 b@2",
    "exception = a.h:1: failed: jsg.Error: boom",
  ],
  [TRACE.replace("boom", "ShardMapError: boom"), TRACE.replace("boom", "ShardMapError: boom")],
  ["hello\nstack of plates", "hello\nstack of plates"],
  ["", ""],
])("%j is printed without addresses in workerd", (message, printed) => {
  expect(printedOf(message)).toBe(printed);
});
