import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { OnBroker } from "../on-broker.ts";
import { importAll } from "./import-all.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "sluice-import-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

const LINES = [
  '{"sluice":"backup","version":1,"at":"2026-11-27T00:00:00.000Z","queues":[],"topics":[]}',
  '{"in":"q","message":{"contentType":"text","text":"a"}}',
  '{"end":{"messages":1}}',
];

/** Imports a file of that text. @returns the messages that reach the broker. */
async function imported(text: string) {
  writeFileSync(join(folder, "backup.jsonl"), text);
  const sent: unknown[] = [];
  const client = {
    admin: async ({ body }: { body?: { messages: unknown[] } }) => void sent.push(...(body?.messages ?? [])),
  };
  const on = {
    client,
    surroundings: { cwd: folder, showsProgress: false },
    printer: { warn: () => {}, print: () => {} },
    json: false,
  } as unknown as OnBroker;
  await importAll(on, "backup.jsonl", { merge: true });
  return sent;
}

describe("a backup that another program has saved is imported", () => {
  it.each([
    ["as it was", `${LINES.join("\n")}\n`],
    ["with the line ends of Windows", `${LINES.join("\r\n")}\r\n`],
    ["without the last line end", LINES.join("\n")],
    ["with a byte order mark", `\uFEFF${LINES.join("\n")}\n`],
    ["with an empty line at its end", `${LINES.join("\n")}\n\n`],
  ])("%s", async (_, text) => {
    expect(await imported(text)).toMatchObject([{ text: "a" }]);
  });
});

describe("a backup that was cut off is refused", () => {
  it.each(["", "}", "}}"])("without %j and the line end", async (cut) => {
    const whole = LINES.join("\n");
    const text = cut === "" ? LINES.slice(0, 2).join("\n") : whole.slice(0, -cut.length);
    await expect(imported(text)).rejects.toThrow("backup.jsonl ends in the middle");
  });
});

describe("a backup that was edited is told", () => {
  const [header = "", message = ""] = LINES;

  it.each([
    ["a message is missing", [header, message, '{"end":{"messages":2}}']],
    ["there is one more", [header, message, message, "", '{"end":{"messages":1}}']],
    ["its last line counts nothing", [header, message, '{"end":{}}']],
  ])("%s", async (_, lines) => {
    await expect(imported(`${lines.join("\n")}\n`)).rejects.toThrow(
      /^backup\.jsonl is not as it was exported: its last line says .* messages, and it has [12]\. Imported /,
    );
  });

  it("something stands behind its last line", async () => {
    const text = [...LINES, message, '{"end":{"messages":2}}'].join("\n");
    await expect(imported(text)).rejects.toThrow("backup.jsonl:4: this line stands behind the last one.");
  });
});
