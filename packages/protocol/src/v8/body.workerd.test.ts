import { describe, expect, it } from "vitest";
import { bundle, startWorkerd } from "../../test/workerd-process.ts";

const SOURCE = `
import * as fc from "fast-check";
import { cloneable, describe } from "../../test/clone-arbitrary.ts";
import { encodeBody } from "../wire/body-codec.ts";
import { decodeBody } from "../wire/native-bodies.ts";

const roundTrip = (value) => decodeBody(encodeBody(value, "v8"), "v8");

export default {
  fetch(request) {
    const url = new URL(request.url);
    if (url.pathname === "/headers") {
      return new Response(roundTrip({ headers: request.headers }).headers.get("x-test"));
    }
    if (url.pathname === "/refused") return refusals();
    const seed = Number(url.searchParams.get("seed"));
    try {
      return new Response(check(seed));
    } catch (error) {
      // Not of the property, which fast-check reports: of making the values. workerd would answer 500 and not say why.
      return new Response("no values: " + error.stack);
    }
  },
};

function check(seed) {
    const report = fc.check(
      fc.property(cloneable(), (value) => {
        let clone;
        try {
          clone = structuredClone(value);
        } catch {
          fc.pre(false); // workerd cannot clone an error that refers to itself
        }
        const cloned = describe(clone);
        const arrived = describe(roundTrip(value));
        if (arrived !== cloned) throw new Error(arrived + "\\n" + cloned);
      }),
      { seed, numRuns: 1_000 },
    );
    return report.failed ? fc.defaultReportMessage(report) + report.errorInstance : "the same";
}

function refusals() {
  const memory = new SharedArrayBuffer(1);
  const values = { blob: new Blob(["x"]), request: new Request("http://x"), response: new Response(null), memory };
  const errors = Object.entries(values).map(([name, value]) => {
    structuredClone(value);
    try {
      encodeBody({ value }, "v8");
      return [name, "accepted"];
    } catch (error) {
      return [name, error.name + ": " + error.message];
    }
  });
  return Response.json(Object.fromEntries(errors));
}
`;

describe("content type v8 in workerd", () => {
  // Errors keep all their own properties from 2025 on, only the standard ones before.
  it.each(["2024-01-01", "2026-11-01"])(
    "arrives as structured clone would have made it, compatibility date %s",
    async (compatibilityDate) => {
      const source = await bundle(SOURCE, import.meta.dirname);
      await using workerd = await startWorkerd([{ name: "main", source, compatibilityDate }]);
      // The same values on every run, so that a failure is one of this code; another seed looks elsewhere.
      const seed = Number(process.env.SLUICE_V8_SEED ?? 20_261_121);
      const response = await workerd.fetch(`/?seed=${seed}`);
      expect(await response.text(), `seed ${seed}`).toBe("the same");
    },
  );

  it("keeps Headers, which structured clone keeps in workerd", async () => {
    const source = await bundle(SOURCE, import.meta.dirname);
    await using workerd = await startWorkerd([{ name: "main", source }]);
    const response = await workerd.fetch("/headers", { headers: { "x-test": "kept" } });
    expect(await response.text()).toBe("kept");
  });

  it("refuses at the send what structured clone takes and a stored body cannot keep", async () => {
    const source = await bundle(SOURCE, import.meta.dirname);
    await using workerd = await startWorkerd([{ name: "main", source }]);
    const response = await workerd.fetch("/refused");
    expect(await response.json()).toEqual({
      blob: "DataCloneError: #<Blob> could not be cloned.",
      request: "DataCloneError: #<Request> could not be cloned.",
      response: "DataCloneError: #<Response> could not be cloned.",
      memory: "DataCloneError: #<SharedArrayBuffer> could not be cloned.",
    });
  });
});
