import { expect, it } from "vitest";
import { tracedAnswers } from "./sync-trace.ts";

const LOG = `/state/v3/do/sluice-QueueBroker/${"a".repeat(64)}.sqlite-wal`;
const write = `7 pwrite64(30<${LOG}>, "7\\177"..., 24, 0) = 24`;
const sync = `7 fdatasync(30<${LOG}>)        = 0`;
const answer = '7 write(24<TCP:[127.0.0.1:99->127.0.0.1:5]>, "HTTP/1.1 200 OK\\r\\n"..., 300) = 300';
const read = (...lines: string[]) => tracedAnswers(lines.join("\n"), 99);

it("counts the syncs that have ended before each answer", () => {
  expect(read(write, sync, answer, write, sync, sync, answer)).toEqual([
    { syncs: 1, unsynced: [] },
    { syncs: 2, unsynced: [] },
  ]);
  expect(read(write, answer, sync, answer)).toEqual([
    { syncs: 0, unsynced: [LOG] },
    { syncs: 1, unsynced: [] },
  ]);
  expect(read(write, sync, write, answer)).toEqual([{ syncs: 1, unsynced: [LOG] }]);
});

it("counts a sync when it has ended in any thread and has not failed", () => {
  const begun = `8 fdatasync(30<${LOG}> <unfinished ...>`;
  const over = "8 <... fdatasync resumed>)               = 0";
  expect(read(write, begun, answer, over, answer)).toEqual([
    { syncs: 0, unsynced: [LOG] },
    { syncs: 1, unsynced: [] },
  ]);
  expect(read(write, begun, over, answer)).toEqual([{ syncs: 1, unsynced: [] }]);
  const failed = `7 fdatasync(30<${LOG}>) = -1 EIO (Input/output error)`;
  expect(read(write, failed, answer)).toEqual([{ syncs: 0, unsynced: [LOG] }]);
});

it("a write that comes while a sync of its log runs is not synced by it", () => {
  const begun = `8 fdatasync(30<${LOG}> <unfinished ...>`;
  const over = "8 <... fdatasync resumed>)               = 0";
  expect(read(write, begun, write, over, answer, sync, answer)).toEqual([
    { syncs: 1, unsynced: [LOG] },
    { syncs: 1, unsynced: [] },
  ]);
});

it("looks at logs of queues and at answers of the broker alone", () => {
  const directory = LOG.replace("QueueBroker", "Directory");
  expect(
    read(
      write.replace(LOG, directory),
      sync.replace(LOG, directory),
      answer.replace(":99->", ":98->"),
      answer.replace("HTTP/1.1 200 OK", "more"),
      "strace: Process 7 attached",
      answer,
    ),
  ).toEqual([{ syncs: 0, unsynced: [] }]);
});
