import { PROTOCOL_VERSION } from "@sluice/protocol";
import { expect, it } from "vitest";
import { protocolOf, protocolWarning } from "./live-protocol.ts";

const HASH = "0123456789ab";

it.each([
  [`sluice-p7-${HASH}`, 7],
  [`sluice-p12-${HASH}`, 12],
  [`sluice-${HASH}`, 1],
  ["sluice-removed", null],
  ["v1.2.3", null],
  [null, null],
])("the protocol of a version tagged %s is %s", (tag, protocol) => {
  expect(protocolOf(tag)).toBe(protocol);
});

it.each([
  [PROTOCOL_VERSION - 2, PROTOCOL_VERSION - 1],
  [PROTOCOL_VERSION + 2, PROTOCOL_VERSION + 1],
])(
  "a deployment warns of a broker that speaks protocol %i, and names the one between: %i",
  (live, between) => {
    const warning = protocolWarning(`sluice-p${live}-${HASH}`);
    expect(warning).toContain(`speaks protocol ${live}, and this release ${PROTOCOL_VERSION}.`);
    expect(warning).toContain(`release that speaks ${between}`);
  },
);

it.each([-1, 0, 1])(
  "a deployment does not warn of a broker whose protocol is %i away, nor of one that another tool deployed",
  (away) => {
    expect(protocolWarning(`sluice-p${PROTOCOL_VERSION + away}-${HASH}`)).toBeNull();
    expect(protocolWarning("mine")).toBeNull();
  },
);
