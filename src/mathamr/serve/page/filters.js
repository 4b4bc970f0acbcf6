// Filters: collections, kinds, folders and tags of what was found, in one row of buttons that are pressed or not; each says how many of
// the results it keeps.

import { CLOSED } from "./address.js";
import { element } from "./dom.js";

const FIELDS = ["collections", "kinds", "folders", "tags"];
const LABELS = { collections: "Collection", kinds: "Kind", folders: "Folder", tags: "Tags" };
const SHOWN = { collections: 5, kinds: 5, folders: 4, tags: 5 };
const NOTHING = Object.freeze({ counted: 0, collections: {}, kinds: {}, folders: {}, tags: {} });

/** Writes the filters; `go(change)` is called when one is pressed. */
export class Filters {
  constructor(place, go) {
    this.place = place;
    this.go = go;
    this.counts = NOTHING;
    this.before = NOTHING;
    this.all = false;
    this.wanted = "";
  }

  /** What filters would keep of the results; what they would have kept without any is remembered beside it. */
  show(state, counts = this.counts) {
    this.state = state;
    this.counts = counts ?? NOTHING;
    if (!this.isNarrowed) this.before = this.counts;
    const groups = FIELDS.map((field) => this.group(field)).filter(Boolean);
    const held = this.place.contains(document.activeElement) ? { ...document.activeElement.dataset } : null;
    this.place.classList.toggle("all", this.all);
    this.place.replaceChildren(...groups, ...(groups.length && this.hasMore() ? [this.more()] : []));
    if (held) this.focusOn(held);
    this.place.hidden = groups.length === 0 || !(state.query || this.isNarrowed);
  }

  get isNarrowed() {
    return FIELDS.some((field) => this.state[field].length > 0);
  }

  /** The values that a field offers: the chosen ones, then those that keep some results and not all. */
  values(field) {
    const chosen = this.state[field];
    const counts = chosen.length && field !== "folders" ? this.before[field] : this.counts[field];
    const offered = Object.keys(counts).filter(
      (value) => !chosen.includes(value) && (chosen.length > 0 || counts[value] < this.counts.counted),
    );
    return [...chosen, ...(field === "folders" ? nextFolders(offered, chosen) : offered)];
  }

  hasMore() {
    return this.all || FIELDS.some((field) => this.values(field).length > this.most(field));
  }

  most(field) {
    return Math.max(SHOWN[field], this.state[field].length);
  }

  group(field) {
    const values = this.values(field);
    if (!values.length) return null;
    const wanted = this.wanted.trim().toLowerCase();
    const shown = this.all
      ? values.filter((value) => this.state[field].includes(value) || value.toLowerCase().includes(wanted))
      : values.slice(0, this.most(field));
    return element(
      "div",
      { class: "group", role: "group", "aria-label": LABELS[field] },
      this.all ? element("span", { class: "label" }, LABELS[field]) : null,
      ...shown.map((value) => this.chip(value, field)),
    );
  }

  chip(value, field) {
    const chosen = this.state[field];
    const pressed = chosen.includes(value);
    // The number is that of the results as they are; a value beside a chosen one of its field would add to them.
    const count = pressed || !chosen.length || field === "folders" ? this.counts[field][value] : null;
    return element(
      "button",
      {
        type: "button",
        class: `chip of-${field}`,
        "aria-pressed": String(pressed),
        title: field === "folders" ? value : null,
        data: { [field]: value },
        on: { click: () => this.go({ [field]: this.pressed(value, field), page: 1, ...CLOSED }) },
      },
      field === "folders" ? `${value.split("/").pop()}/` : value,
      count ? element("span", { class: "count" }, String(count)) : null,
    );
  }

  /** What is chosen after a value was pressed; a folder in a folder takes its place, and gives it back. */
  pressed(value, field) {
    const chosen = this.state[field];
    if (field !== "folders") return chosen.includes(value) ? chosen.filter((each) => each !== value) : [...chosen, value];
    if (!chosen.includes(value)) return [...chosen.filter((each) => !value.startsWith(`${each}/`)), value];
    const above = value.slice(0, Math.max(0, value.lastIndexOf("/")));
    const others = chosen.filter((each) => each !== value);
    return above in this.before.folders ? [...others, above] : others;
  }

  more() {
    const toggle = element(
      "button",
      { type: "button", class: "plain", "aria-expanded": String(this.all), on: { click: () => this.open(!this.all) } },
      this.all ? "Fewer filters" : "More filters…",
    );
    if (!this.all) return toggle;
    const field = element("input", {
      type: "search",
      class: "narrow",
      placeholder: "Find a filter",
      "aria-label": "Find a filter",
      value: this.wanted,
      on: {
        input: (event) => {
          this.wanted = event.target.value;
          this.show(this.state);
        },
      },
    });
    return element("div", { class: "group" }, field, toggle);
  }

  /** Restores the focus after its element was replaced. */
  focusOn({ collections, kinds, tags, folders }) {
    const chip = [...this.place.querySelectorAll(".chip")].find(
      ({ dataset }) =>
        dataset.collections === collections && dataset.kinds === kinds && dataset.tags === tags && dataset.folders === folders,
    );
    const field = this.place.querySelector(".narrow");
    if (chip) {
      chip.focus({ preventScroll: true });
    } else if (field) {
      field.focus({ preventScroll: true });
      field.setSelectionRange(this.wanted.length, this.wanted.length);
    } else {
      this.place.querySelector(".chip")?.focus({ preventScroll: true });
    }
  }

  open(isOpen) {
    this.all = isOpen;
    this.wanted = "";
    this.show(this.state);
    this.place.querySelector(isOpen ? ".narrow" : ".plain")?.focus();
  }
}

/** The folders one step below the chosen ones, or the outermost ones. */
function nextFolders(folders, chosen) {
  const isInside = (inner, outer) => inner.startsWith(`${outer}/`);
  const below = chosen.length ? folders.filter((each) => chosen.some((one) => isInside(each, one))) : folders;
  return below.filter((each) => !below.some((other) => isInside(each, other)));
}
