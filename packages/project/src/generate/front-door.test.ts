import { describe, expect, it } from "vitest";
import { openFrontDoor } from "./front-door.ts";

const OURS = ["/__sluice", "/__sluice/*"];

describe("openFrontDoor", () => {
  it("leaves a Worker without static assets alone", () => {
    expect(openFrontDoor(undefined, true)).toEqual({ assets: undefined, frontDoor: { kind: "open" } });
  });

  it("names our paths in run_worker_first where unknown paths go to the Worker anyway", () => {
    expect(openFrontDoor({ directory: "public" }, true)).toEqual({
      assets: { directory: "public", run_worker_first: OURS },
      frontDoor: { kind: "open" },
    });
    expect(openFrontDoor({ not_found_handling: "none", run_worker_first: false }, true).assets).toEqual({
      not_found_handling: "none",
      run_worker_first: OURS,
    });
  });

  it("has the entry ask the assets under sluice serve, unless the user has a list", () => {
    const asks = { kind: "asks-assets", binding: "__SLUICE_ASSETS", fallback: "worker" };
    expect(openFrontDoor({ directory: "public" }, true, "entry")).toEqual({
      assets: { directory: "public", binding: "__SLUICE_ASSETS", run_worker_first: true },
      frontDoor: asks,
    });
    const listed = openFrontDoor({ run_worker_first: ["/api/*"] }, true, "entry");
    expect(listed.frontDoor).toEqual({ kind: "open" });
  });

  it("adds our paths to the user's list", () => {
    const assets = { not_found_handling: "404-page", run_worker_first: ["/api/*", "!/api/docs"] } as const;
    expect(openFrontDoor({ ...assets, run_worker_first: [...assets.run_worker_first] }, true)).toEqual({
      assets: { not_found_handling: "404-page", run_worker_first: ["/api/*", "!/api/docs", ...OURS] },
      frontDoor: { kind: "open" },
    });
  });

  it("leaves a Worker that runs first for every path alone", () => {
    const assets = { directory: "public", run_worker_first: true, not_found_handling: "404-page" } as const;
    expect(openFrontDoor(assets, true)).toEqual({ assets, frontDoor: { kind: "open" } });
  });

  it.each(["single-page-application", "404-page"] as const)(
    "has the entry ask the assets with not_found_handling %s, since a list would take paths from the Worker",
    (not_found_handling) => {
      expect(openFrontDoor({ directory: "public", not_found_handling }, true)).toEqual({
        assets: {
          directory: "public",
          not_found_handling,
          binding: "__SLUICE_ASSETS",
          run_worker_first: true,
        },
        frontDoor: { kind: "asks-assets", binding: "__SLUICE_ASSETS", fallback: "worker" },
      });
    },
  );

  it("asks the assets through the user's own binding where there is one", () => {
    const { frontDoor } = openFrontDoor({ binding: "ASSETS", not_found_handling: "404-page" }, true);
    expect(frontDoor).toEqual({ kind: "asks-assets", binding: "ASSETS", fallback: "worker" });
  });

  it("leaves everything but our paths to the assets of a Worker without code", () => {
    expect(openFrontDoor({ directory: "public" }, false)).toEqual({
      assets: { directory: "public", binding: "__SLUICE_ASSETS", run_worker_first: true },
      frontDoor: { kind: "asks-assets", binding: "__SLUICE_ASSETS", fallback: "assets" },
    });
  });
});
