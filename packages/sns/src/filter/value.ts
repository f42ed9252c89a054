import { type Address, parseAddress } from "./cidr.ts";
import type { Scalar } from "./policy.ts";

/** A value in a message. It is parsed as an address once, however many conditions need that. */
export class Value {
  readonly scalar: Scalar;
  #address: Address | null | undefined;

  constructor(scalar: Scalar) {
    this.scalar = scalar;
  }

  /** The address of IPv4 or IPv6 that it is; `null` for anything else. */
  get address(): Address | null {
    if (this.#address === undefined) {
      this.#address = typeof this.scalar === "string" ? parseAddress(this.scalar) : null;
    }
    return this.#address;
  }
}
