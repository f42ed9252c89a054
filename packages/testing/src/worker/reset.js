// The Worker that empties everything: Durable Objects, and what Miniflare keeps in some.
import unsafe from "workerd:unsafe";

export default {
  async fetch() {
    await unsafe.deleteAllDurableObjects();
    return new Response(null, { status: 204 });
  },
};
