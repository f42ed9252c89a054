import { expect, it } from "vitest";
import { ViteMaps } from "./vite-maps.ts";

const graph = (files: Record<string, (object | null)[]>) => ({
  moduleGraph: {
    getModulesByFile: (file: string) => files[file]?.map((map) => ({ transformResult: map && { map } })),
  },
});

it("the map of a module is that of the environment that has transformed it, and the same until it is another one", () => {
  const map = { mappings: "AAAA" };
  const files = { "/shop/src/pay.ts": [null, map], "/shop/src/own.ts": [] };
  const maps = new ViteMaps({ environments: { client: graph({}), ssr: graph(files) } });
  const found = maps.get("/shop/src/pay.ts");
  expect(found).toEqual({ text: JSON.stringify(map), folder: "/shop/src" });
  expect(maps.get("file:///shop/src/pay.ts")).toBe(found);
  files["/shop/src/pay.ts"] = [{ mappings: "CAAA" }];
  expect(maps.get("/shop/src/pay.ts")?.text).toContain("CAAA");
});

it.each(["/shop/src/own.ts", "/elsewhere.ts", "file://else.where/%00"])("there is none of %s", (url) => {
  expect(
    new ViteMaps({ environments: { ssr: graph({ "/shop/src/own.ts": [null] }) } }).get(url),
  ).toBeUndefined();
});
