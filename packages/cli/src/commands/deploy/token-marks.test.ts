import { describe, expect, it } from "vitest";
import { deploymentMessage, deploymentOf, tokensIn } from "./messages.ts";
import { CHOSEN, lastMark, markOf } from "./token-marks.ts";

const version = (createdOn: string, message: string | null) => ({
  id: createdOn,
  tag: null,
  message,
  createdOn,
});

describe("the message of a version", () => {
  it("names its deployment, and the tokens that it sets", () => {
    const [plain, setting] = [deploymentMessage("run"), deploymentMessage("run", markOf("secret"))];
    expect([plain, setting].map(deploymentOf)).toEqual(["run", "run"]);
    expect([plain, setting].map(tokensIn)).toEqual([null, markOf("secret")]);
    expect(setting).not.toContain("secret");
    // Cloudflare takes no longer one.
    expect(setting.length).toBeLessThanOrEqual(100);
    expect([null, "by hand tokens x"].flatMap((one) => [deploymentOf(one), tokensIn(one)])).toEqual(
      Array(4).fill(null),
    );
  });
});

describe("the tokens that were set last", () => {
  it("are those of the newest version that sets any, in whatever order the versions come", () => {
    const versions = [
      version("2026-11-03", deploymentMessage("c")),
      version("2026-11-01", deploymentMessage("a", markOf("one"))),
      version("2026-11-02", deploymentMessage("b", CHOSEN)),
      version("2026-11-04", "by hand"),
    ];
    expect(lastMark(versions)).toBe(CHOSEN);
    expect(lastMark(versions.slice(0, 2))).toBe(markOf("one"));
    expect(lastMark([version("2026-11-01", null)])).toBe(null);
  });
});
