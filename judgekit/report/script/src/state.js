// What a reader looks at, kept in the fragment of the address: a link to it works everywhere.
import { useCallback, useEffect, useState } from "preact/hooks";

const KEYS = ["case", "state", "variant", "tag", "stratum", "q", "sort", "answer", "with"];

/** The state that the address has now; the components may not have drawn it yet. */
export function readState() {
  const found = new URLSearchParams(location.hash.slice(1));
  return Object.fromEntries(KEYS.filter((key) => found.get(key)).map((key) => [key, found.get(key)]));
}

/** The fragment of a state; empty for the page as it opens. */
export function fragment(state) {
  const found = new URLSearchParams();
  for (const key of KEYS) if (state[key]) found.set(key, state[key]);
  const text = found.toString();
  return text ? `#${text}` : "";
}

export function linkTo(state) {
  return location.href.split("#")[0] + fragment(state);
}

/** The state and a function that changes parts of it: `push` makes a step for the back button. */
export function useAddress() {
  const [state, set] = useState(readState);
  useEffect(() => {
    const read = () => set(readState());
    addEventListener("popstate", read);
    addEventListener("hashchange", read);
    return () => {
      removeEventListener("popstate", read);
      removeEventListener("hashchange", read);
    };
  }, []);
  const change = useCallback((parts, { push = false } = {}) => {
    const next = { ...readState(), ...parts };
    const link = linkTo(next);
    if (push) history.pushState({ pushed: true }, "", link);
    else history.replaceState(history.state, "", link);
    set(readState());
  }, []);
  return [state, change];
}

/** Whether a media query holds now. */
export function useMedia(query) {
  const [holds, set] = useState(() => matchMedia(query).matches);
  useEffect(() => {
    const media = matchMedia(query);
    const read = () => set(media.matches);
    media.addEventListener("change", read);
    return () => media.removeEventListener("change", read);
  }, [query]);
  return holds;
}
