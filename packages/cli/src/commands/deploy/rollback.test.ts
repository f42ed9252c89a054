import { describe, expect, it } from "vitest";
import { type Past, returnsOf } from "./rollback.ts";

/**
 * Versions as `RUN@NUMBER`, in the order in which they were deployed; the number is that of the upload. They are made
 * of something else each, or of what stands behind an `=`.
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

describe("where Workers go back to", () => {
  it("is what they had before the last deployment; those that it did not touch stay", () => {
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

  it("is nothing for one that is new", () => {
    expect(returnsOf([past("web", "r1@1", "r2@3"), past("new", "r2@2")])).toEqual([
      { name: "web", to: "r1@1" },
      { name: "new", to: null },
    ]);
  });

  it("is the same again after a run that has stopped in between", () => {
    expect(returnsOf([past("web", "r1@1", "r2@3", "r1@1"), past("sluice", "r1@2", "r2@4")])).toEqual([
      { name: "sluice", to: "r1@2" },
    ]);
  });

  it("is one deployment further after a rollback, also when what it undid was deployed twice", () => {
    expect(returnsOf([past("web", "r1@1", "r2@2", "r3@3", "r2@2")])).toEqual([{ name: "web", to: "r1@1" }]);
    expect(returnsOf([past("web", "r1@1", "r2@2", "r1@1", "r2@3")])).toEqual([{ name: "web", to: "r1@1" }]);
  });

  it("is where it is for a broker that was deployed again for its secrets alone", () => {
    expect(returnsOf([past("web", "r1@1", "r2@3"), past("sluice", "r1@2=same", "r2@4=same")])).toEqual([
      { name: "web", to: "r1@1" },
    ]);
  });

  it("is nowhere without a deployment of ours", () => {
    expect(returnsOf([past("web", "hand@1"), past("none")])).toEqual([]);
  });
});
