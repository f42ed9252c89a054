import type { AuditDialect, AuditRpc } from "@sluice/protocol";
import { noteChange } from "../account/audit-log.ts";
import type { Need } from "../rights/rights.ts";
import type { Caller } from "./caller.ts";

/** Change that an action makes, for the audit log. */
export class Change {
  /** `undefined` until the action names it, `null` once it turns out that nothing is changed. */
  #target: string | null | undefined;

  /** Names what is changed. The first name counts. */
  name(target: string | undefined): void {
    if (this.#target === undefined) this.#target = target;
  }

  /** It is there already, as it is asked for. */
  isNone(): void {
    this.#target = null;
  }

  /** Writes it down, once it is made. */
  async note(
    audit: Pick<AuditRpc, "noteAudit">,
    need: Need,
    dialect: AuditDialect,
    caller: Caller,
  ): Promise<void> {
    if (need.audit === undefined || this.#target === null) return;
    const target = this.#target ?? null;
    await noteChange(audit, { action: need.audit, target, by: caller.rights.by, dialect });
  }
}
