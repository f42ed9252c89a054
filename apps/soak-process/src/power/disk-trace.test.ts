import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { DiskTrace, type TraceEvent } from "./disk-trace.ts";

const hex = (text: string) =>
  [...Buffer.from(text)].map((byte) => `\\x${byte.toString(16).padStart(2, "0")}`).join("");
const CWD = `AT_FDCWD<${hex("/run")}>`;
const fd = (number: number, path: string) => `${number}<${hex(path)}>`;

/** Events of a trace of a disk at `/run/disk`, of a process that listens on port 80. */
async function eventsOf(...lines: string[]): Promise<readonly TraceEvent[]> {
  const folder = mkdtempSync(join(tmpdir(), "sluice-trace-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "trace");
  writeFileSync(
    file,
    lines.map((line, i) => line.replace(" ", ` ${(1000 + i / 1000).toFixed(6)} `)).join("\n"),
  );
  const trace = new DiskTrace("/run/disk");
  await trace.read(file, 80);
  return trace.events;
}

const changes = (events: readonly TraceEvent[]) =>
  events.flatMap((event) => {
    if (event.kind !== "change") return [];
    const { change } = event;
    return [change.kind === "write" ? { ...change, bytes: Buffer.from(change.bytes).toString() } : change];
  });

it("reads what is made, written, cut, renamed and removed below the disk's root, and nothing else", async () => {
  const events = await eventsOf(
    `1 mkdir("${hex("/run/disk/a")}", 0700) = 0`,
    `1 mkdir("${hex("/run/disk/a")}", 0700) = -1 EEXIST (File exists)`,
    `1 openat(${CWD}, "${hex("/run/disk/a/x")}", O_RDWR|O_CREAT|O_CLOEXEC, 0600) = ${fd(5, "/run/disk/a/x")}`,
    `1 pwrite64(${fd(5, "/run/disk/a/x")}, "${hex("abc")}", 3, 4096) = 3`,
    `1 pwrite64(${fd(5, "/run/disk/a/x")}, "${hex("abc")}", 3, 4096) = 2`,
    `1 ftruncate(${fd(5, "/run/disk/a/x")}, 10) = 0`,
    `1 openat(${CWD}, "${hex("/run/disk/a/x")}", O_WRONLY|O_CREAT|O_TRUNC, 0600) = ${fd(6, "/run/disk/a/x")}`,
    `1 write(${fd(6, "/run/disk/a/x")}, "${hex("12")}", 2) = 2`,
    `1 write(${fd(6, "/run/disk/a/x")}, "${hex("3")}", 1) = 1`,
    `1 renameat(${fd(7, "/run/disk/a")}, "${hex("x")}", ${fd(7, "/run/disk/a")}, "${hex("y")}") = 0`,
    `1 unlinkat(${fd(7, "/run/disk/a")}, "${hex("y")}", 0) = 0`,
    `1 write(${fd(1, "/run/log")}, "${hex("line")}", 4) = 4`,
    `1 write(${fd(8, "/run/disk/sluice-reserve")}, "${hex("~")}"..., 8000000) = 8000000`,
  );
  expect(changes(events)).toEqual([
    { kind: "create", path: "a", isFolder: true },
    { kind: "create", path: "a/x", isFolder: false },
    { kind: "write", path: "a/x", at: 4096, bytes: "abc" },
    { kind: "write", path: "a/x", at: 4096, bytes: "ab" },
    { kind: "resize", path: "a/x", size: 10 },
    { kind: "resize", path: "a/x", size: 0 },
    { kind: "write", path: "a/x", at: 0, bytes: "12" },
    { kind: "write", path: "a/x", at: 2, bytes: "3" },
    { kind: "rename", path: "a/x", to: "a/y" },
    { kind: "remove", path: "a/y" },
  ]);
});

it("a write after a rename goes on where the one before it ended", async () => {
  const events = await eventsOf(
    `1 openat(${CWD}, "${hex("/run/disk/x")}", O_WRONLY|O_CREAT, 0600) = ${fd(5, "/run/disk/x")}`,
    `1 write(${fd(5, "/run/disk/x")}, "${hex("12")}", 2) = 2`,
    `1 rename("${hex("/run/disk/x")}", "${hex("/run/disk/y")}") = 0`,
    `1 write(${fd(5, "/run/disk/y")}, "${hex("3")}", 1) = 1`,
  );
  expect(changes(events).at(-1)).toEqual({ kind: "write", path: "y", at: 2, bytes: "3" });
});

it("knows when calls of several threads began and ended", async () => {
  const x = fd(5, "/run/disk/x");
  const events = await eventsOf(
    `1 openat(${CWD}, "${hex("/run/disk/x")}", O_RDWR|O_CREAT, 0600) = ${x}`,
    `1 fdatasync(${x} <unfinished ...>`,
    `2 pwrite64(${x}, "${hex("a")}", 1, 0 <unfinished ...>`,
    `1 <... fdatasync resumed>) = 0`,
    `2 <... pwrite64 resumed>) = 1`,
    `1 fsync(${x}) = -1 EIO (Input/output error)`,
    `1 fsync(${x} <unfinished ...>`,
  );
  expect(events.map(({ kind, at }) => [kind, at])).toEqual([
    ["change", 1],
    ["change", 3],
    ["sync", 4],
  ]);
  expect(events[1]).toMatchObject({ endedAt: 5, change: { kind: "write", at: 0 }, atMs: 1_000_002 });
  expect(events[2]).toMatchObject({ path: "x", begunAt: 2 });
});

it("numbers the answers of each client's connection, and takes no other bytes for one", async () => {
  const client = (port: number) => `9<TCP:[127.0.0.1:80->127.0.0.1:${port}]>`;
  const events = await eventsOf(
    `1 write(${client(5001)}, "${hex("HTTP/1.1 200 OK")}", 15) = 15`,
    `1 write(${client(5001)}, "${hex("more")}", 4) = 4`,
    `1 writev(${client(5001)}, [{iov_base="${hex("HTTP/1.1 200 OK")}", iov_len=15}], 1) = 15`,
    `1 sendto(${client(5002)}, "${hex("HTTP/1.1 400 Bad")}", 16, 0, NULL, 0) = 16`,
    `1 write(9<TCP:[127.0.0.1:81->127.0.0.1:5001]>, "${hex("HTTP/1.1 200 OK")}", 15) = 15`,
  );
  expect(events.map((event) => event.kind === "answer" && event.answer)).toEqual([
    "1:5001:1",
    "1:5001:2",
    "1:5002:1",
  ]);
});

it("refuses a trace that leaves out bytes, and calls of which it does not know what they do", async () => {
  const open = `1 openat(${CWD}, "${hex("/run/disk/x")}", O_RDWR|O_CREAT, 0600) = ${fd(5, "/run/disk/x")}`;
  await expect(eventsOf(open, `1 write(${fd(5, "/run/disk/x")}, "${hex("ab")}"..., 3) = 3`)).rejects.toThrow(
    "left out",
  );
  await expect(eventsOf(open, `1 fallocate(${fd(5, "/run/disk/x")}, 0, 0, 4096) = 0`)).rejects.toThrow(
    "not known what fallocate does",
  );
});
