import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { lookAtQueues } from "./waiting.ts";

const URL = "https://sluice.shop.workers.dev";
const ANOTHER = { SLUICE_URL: "https://another.example", SLUICE_API_TOKEN: "of-another" };

let folder: string;
/** Requests, each by its address and its token. */
let asked: string[];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "sluice-waiting-"));
  asked = [];
  vi.stubGlobal("fetch", async (url: string | URL, { headers }: RequestInit) => {
    asked.push(`${new globalThis.URL(url).origin} ${new Headers(headers).get("authorization")}`);
    return Response.json({ queues: [] });
  });
});
afterEach(() => {
  vi.unstubAllGlobals();
  rmSync(folder, { recursive: true, force: true });
});

/** Looks at the broker that the file names, which the account has at `address`. */
async function look(file: string, env: NodeJS.ProcessEnv, options = {}, address: string | null = null) {
  const accessFile = join(folder, "sluice.env");
  writeFileSync(accessFile, file);
  const api = { address: async () => address };
  const deployment = { accessFile, api, project: { broker: { name: "sluice" } } };
  return lookAtQueues(deployment, options, { cwd: folder, env });
}

const FILE = `SLUICE_URL=${URL}\nSLUICE_API_TOKEN=kept\n`;

it.each([
  ["the address of the file, whatever SLUICE_URL says", FILE, ANOTHER, {}, `${URL} Bearer kept`],
  ["the token that SLUICE_API_TOKEN gives alone", FILE, { SLUICE_API_TOKEN: "new" }, {}, `${URL} Bearer new`],
  [
    "the token beside its own address",
    FILE,
    { SLUICE_URL: `${URL}/__sluice/`, SLUICE_API_TOKEN: "new" },
    {},
    `${URL} Bearer new`,
  ],
  [
    "what the options say",
    FILE,
    ANOTHER,
    { url: "https://b.example", token: "b" },
    "https://b.example Bearer b",
  ],
])("the broker that is asked has %s", async (_, file, env, options, expected) => {
  expect(await look(file, env, options)).toEqual({ kind: "known", lines: [] });
  expect(asked).toEqual([expected]);
});

it("a broker whose address is in no file is asked where the account has it", async () => {
  await look("", ANOTHER, {}, URL);
  expect(asked).toEqual([`${URL} null`]);
});

it("a broker that answers at no known address is not taken for the one of SLUICE_URL", async () => {
  expect(await look("", ANOTHER)).toMatchObject({ kind: "unknown" });
  expect(asked).toEqual([]);
});
