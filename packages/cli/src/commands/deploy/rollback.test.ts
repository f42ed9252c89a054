import { describe, expect, it } from "vitest";
import { type Past, returnsOf } from "./rollback.ts";

/**
 * Makes versions from `RUN@NUMBER`, in the order of their deployment; the number counts uploads. Contents are different
 * for each, or the text behind an `=`.
 */
function past(name: string, ...versions: string[]): Past {
  return {
    name,
    versions: versions.map((id) => {
      const [upload = "", tag = id] = id.split("=");
      const [run = "", number] = upload.split("@");
      return { id, run: run === "hand" ? null : run, tag, createdOn: `2026-11-0${number}` };
    }),
  };
}

describe("the version that a rollback returns a Worker to", () => {
  it("is the one before the last deployment, and there is none for a Worker that it did not change", () => {
    const pasts = [
      past("web", "r1@1", "r2@3"),
      past("mailer", "r1@1"),
      past("sluice", "r1@2", "r2@4", "r2@5"),
    ];
    expect(returnsOf(pasts)).toEqual([
      { name: "web", to: "r1@1" },
      { name: "sluice", to: "r1@2" },
    ]);
  });

  it("is none for a Worker that is new", () => {
    expect(returnsOf([past("web", "r1@1", "r2@3"), past("new", "r2@2")])).toEqual([
      { name: "web", to: "r1@1" },
      { name: "new", to: null },
    ]);
  });

  it("is the same for a run that continues one that stopped", () => {
    expect(returnsOf([past("web", "r1@1", "r2@3", "r1@1"), past("sluice", "r1@2", "r2@4")])).toEqual([
      { name: "sluice", to: "r1@2" },
    ]);
  });

  it("is one deployment earlier after a rollback, also when the undone one was deployed twice", () => {
    expect(returnsOf([past("web", "r1@1", "r2@2", "r3@3", "r2@2")])).toEqual([{ name: "web", to: "r1@1" }]);
    expect(returnsOf([past("web", "r1@1", "r2@2", "r1@1", "r2@3")])).toEqual([{ name: "web", to: "r1@1" }]);
  });

  it("is the live one for a broker that was deployed again for its secrets alone", () => {
    expect(returnsOf([past("web", "r1@1", "r2@3"), past("sluice", "r1@2=same", "r2@4=same")])).toEqual([
      { name: "web", to: "r1@1" },
    ]);
  });

  it("is none without a deployment by Sluice", () => {
    expect(returnsOf([past("web", "hand@1"), past("none")])).toEqual([]);
  });
});
