import { h } from "preact";
import htm from "htm";

/** Elements as tagged templates; values are always text or attributes, never markup. */
export const html = htm.bind(h);
