import { expect, it } from "vitest";
import type { Step } from "./steps.ts";
import { upload } from "./uploads.ts";

it("an upload that fails shows what Wrangler printed, whatever its report has", async () => {
  const part = { name: "web", configFile: "/wrangler.json", config: "{}" };
  const step = { part, without: [], tag: "t" } as unknown as Step;
  const wrangler = async () => ({ code: 1, all: "Wrangler says why", out: "", report: '{"type":"dep' });
  const options = { message: "m", secrets: {}, migration: null, wrangler, yes: true, wait: async () => {} };
  await expect(upload(step, options)).rejects.toThrow("Wrangler says why");
});
