import { describe, expect, it } from "vitest";
import { readUpload } from "./upload.ts";

const METADATA = {
  main_module: "entry.js",
  bindings: [{ name: "STAGE", type: "plain_text", text: "test" }],
  compatibility_date: "2026-11-01",
  compatibility_flags: ["nodejs_compat"],
};

/** What Wrangler writes: a form as it would be sent, the metadata first. */
async function form(
  metadata: object,
  modules: readonly (readonly [name: string, type: string, text: string])[],
) {
  const data = new FormData();
  data.set("metadata", JSON.stringify(metadata));
  for (const [name, type, text] of modules) data.set(name, new File([text], name, { type }));
  return new Uint8Array(await new Response(data).arrayBuffer());
}

describe("what wrangler deploy --dry-run writes", () => {
  it("is the Worker's modules, the main one first, and what it is run with", async () => {
    const written = await form(METADATA, [
      ["words.md", "text/plain", "hello"],
      ["entry.js", "application/javascript+module", "export default {};"],
      ["entry.js.map", "application/source-map", "{}"],
    ]);
    const { modules, ...rest } = await readUpload(written, "shop", "/project");
    const described = modules.map(({ name, kind, contents, map }) => [
      name,
      kind,
      new TextDecoder().decode(contents),
      map,
    ]);
    expect(described).toEqual([
      ["entry.js", "esModule", "export default {};", { text: "{}", folder: "/project" }],
      ["words.md", "text", "hello", null],
    ]);
    expect(rest).toEqual({
      bindings: METADATA.bindings,
      compatibilityDate: "2026-11-01",
      compatibilityFlags: ["nodejs_compat"],
    });
  });

  it("cannot be a module that workerd alone does not run", async () => {
    const written = await form(METADATA, [["entry.py", "text/x-python", "pass"]]);
    await expect(readUpload(written, "shop", "/project")).rejects.toThrow(
      'Worker "shop": sluice serve runs no module of type text/x-python (entry.py).',
    );
  });

  it("cannot be a Worker that is no module", async () => {
    const written = await form({ ...METADATA, main_module: undefined }, []);
    await expect(readUpload(written, "shop", "/project")).rejects.toThrow(
      'Worker "shop" is not made of modules',
    );
  });
});
