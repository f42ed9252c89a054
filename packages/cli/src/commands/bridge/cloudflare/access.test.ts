import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { removePath } from "@sluice/project/folders";
import { expect, it, onTestFinished } from "vitest";
import { openCloudflare } from "./access.ts";

const ID = "0123456789abcdef".repeat(2);

function open(env: Readonly<Record<string, string>>) {
  const cwd = mkdtempSync(join(tmpdir(), "sluice-access-"));
  onTestFinished(() => removePath(cwd));
  return openCloudflare({ cwd, env });
}

it.each([
  [{ CLOUDFLARE_API_TOKEN: "t", CLOUDFLARE_ACCOUNT_ID: ID }, "https://api.cloudflare.com/client/v4"],
  [{ CF_API_TOKEN: "t", CF_ACCOUNT_ID: ID, CF_API_BASE_URL: "http://localhost:1" }, "http://localhost:1"],
])(
  "the queues of an account are opened by Wrangler's variables, the older names too: %j",
  async (env, url) => {
    expect((await open(env)).place).toBe(`account ${ID} of Cloudflare at ${url}`);
  },
);

it.each(["anything", "0123", `${ID}0`, ID.replace("0", "g")])(
  "no account of Cloudflare is called %s",
  async (id) => {
    const env = { CLOUDFLARE_API_TOKEN: "t", CLOUDFLARE_ACCOUNT_ID: id };
    await expect(open(env)).rejects.toThrow("has 32 hexadecimal digits");
  },
);

it("an account of another server may have any name", async () => {
  const env = { CLOUDFLARE_API_TOKEN: "t", CLOUDFLARE_ACCOUNT_ID: "anything" };
  const other = await open({ ...env, CLOUDFLARE_API_BASE_URL: "http://localhost:1" });
  expect(other.account).toBe("anything");
});
