// Filters: kinds, folders and tags of what is indexed, as buttons that are pressed or not.

import { CLOSED } from "./address.js";
import { element } from "./dom.js";

const SHOWN = 6;
const MOST_FOLDERS = 12;

/** Writes the filters; `go(change)` is called when one is pressed. */
export class Filters {
  constructor(place, go) {
    this.place = place;
    this.go = go;
    this.kinds = {};
    this.tags = {};
    this.folders = {};
    this.all = false;
    this.wanted = "";
    this.hits = [];
  }

  /** What is indexed: kinds, folders and tags with how many posts have them. */
  learn({ kinds, tags, folders }) {
    this.kinds = kinds;
    this.tags = tags;
    this.folders = folders;
  }

  /** Tags of the posts that were found stand before the others. */
  show(state, hits = this.hits) {
    this.state = state;
    this.hits = hits;
    const kinds = distinct([...Object.keys(this.kinds), ...state.kinds]);
    const folders = distinct([...state.folders, ...Object.keys(this.folders)]);
    const tags = distinct([...state.tags, ...frequent(hits), ...Object.keys(this.tags)]);
    const groups = [];
    if (kinds.length > 1 || state.kinds.length) groups.push(this.group("Kind", kinds, "kinds", this.kinds));
    if (folders.length > 1 || state.folders.length)
      groups.push(this.group("Folder", folders.slice(0, MOST_FOLDERS), "folders", this.folders));
    if (tags.length) groups.push(this.group("Tags", this.narrowed(tags), "tags", this.tags, this.more(tags)));
    const held = this.place.contains(document.activeElement) ? { ...document.activeElement.dataset } : null;
    this.place.replaceChildren(...groups);
    if (held) this.focusOn(held);
    const isNarrowed = state.tags.length + state.kinds.length + state.folders.length > 0;
    this.place.hidden = groups.length === 0 || !(state.query || isNarrowed);
  }

  group(label, values, field, counts, more = null) {
    return element(
      "div",
      { class: "group", role: "group", "aria-label": label },
      element("span", { class: "label" }, label),
      ...values.map((value) => this.chip(value, field, counts[value])),
      more,
    );
  }

  chip(value, field, count) {
    const chosen = this.state[field];
    const pressed = chosen.includes(value);
    const next = pressed ? chosen.filter((each) => each !== value) : [...chosen, value];
    return element(
      "button",
      {
        type: "button",
        class: "chip",
        "aria-pressed": String(pressed),
        data: { [field]: value },
        on: { click: () => this.go({ [field]: next, page: 1, ...CLOSED }) },
      },
      field === "folders" ? value.split("/").pop() : value,
      count ? element("span", { class: "count" }, String(count)) : null,
    );
  }

  narrowed(tags) {
    const chosen = this.state.tags;
    if (!this.all) return tags.slice(0, Math.max(SHOWN, chosen.length));
    const wanted = this.wanted.trim().toLowerCase();
    return tags.filter((tag) => chosen.includes(tag) || tag.toLowerCase().includes(wanted));
  }

  more(tags) {
    if (tags.length <= SHOWN) return null;
    if (!this.all) {
      return element(
        "button",
        { type: "button", class: "plain", on: { click: () => this.open() } },
        `${tags.length - SHOWN} more…`,
      );
    }
    return element("input", {
      type: "search",
      class: "narrow",
      placeholder: "Find a tag",
      "aria-label": "Find a tag",
      value: this.wanted,
      on: {
        input: (event) => {
          this.wanted = event.target.value;
          this.show(this.state);
        },
      },
    });
  }

  /** Restores the focus after its element was replaced. */
  focusOn({ kinds, tags, folders }) {
    const chip = [...this.place.querySelectorAll(".chip")].find(
      ({ dataset }) => dataset.kinds === kinds && dataset.tags === tags && dataset.folders === folders,
    );
    const field = this.place.querySelector(".narrow");
    if (chip) {
      chip.focus({ preventScroll: true });
    } else if (field) {
      field.focus({ preventScroll: true });
      field.setSelectionRange(this.wanted.length, this.wanted.length);
    }
  }

  open() {
    this.all = true;
    this.show(this.state);
    this.place.querySelector(".narrow")?.focus();
  }
}

function distinct(values) {
  return [...new Set(values)];
}

/** The tags of hits, the most frequent first. */
function frequent(hits) {
  const counts = new Map();
  for (const tag of hits.flatMap((hit) => hit.tags)) counts.set(tag, (counts.get(tag) ?? 0) + 1);
  return [...counts.keys()].sort((one, other) => counts.get(other) - counts.get(one));
}
