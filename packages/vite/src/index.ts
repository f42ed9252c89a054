import "sluice/refuse-old-node";

export { sluice } from "./sluice.ts";
