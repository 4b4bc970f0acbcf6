"use strict";
var __defProp = Object.defineProperty;
var __getOwnPropDesc = Object.getOwnPropertyDescriptor;
var __getOwnPropNames = Object.getOwnPropertyNames;
var __hasOwnProp = Object.prototype.hasOwnProperty;
var __export = (target, all) => {
  for (var name in all)
    __defProp(target, name, { get: all[name], enumerable: true });
};
var __copyProps = (to, from, except, desc) => {
  if (from && typeof from === "object" || typeof from === "function") {
    for (let key of __getOwnPropNames(from))
      if (!__hasOwnProp.call(to, key) && key !== except)
        __defProp(to, key, { get: () => from[key], enumerable: !(desc = __getOwnPropDesc(from, key)) || desc.enumerable });
  }
  return to;
};
var __toCommonJS = (mod) => __copyProps(__defProp({}, "__esModule", { value: true }), mod);

// src/main.ts
var main_exports = {};
__export(main_exports, {
  default: () => MathamrPlugin
});
module.exports = __toCommonJS(main_exports);
var import_obsidian3 = require("obsidian");

// src/api.ts
var ServerError = class extends Error {
};
var Client = class {
  constructor(request2, address) {
    this.request = request2;
    this.address = address;
  }
  request;
  address;
  about() {
    return this.json("index");
  }
  search(q, task, k) {
    return this.json("search", { q, task, k });
  }
  async json(route, body) {
    let answer;
    try {
      answer = await this.request({
        url: `${this.address.replace(/\/$/, "")}/v1/${route}`,
        method: body ? "POST" : "GET",
        contentType: body ? "application/json" : void 0,
        body: body ? JSON.stringify(body) : void 0
      });
    } catch {
      throw new ServerError(`The server at ${this.address} does not answer.`);
    }
    if (answer.status === 200) return JSON.parse(answer.text);
    throw new ServerError(said(answer.text) ?? `The server answered ${answer.status}.`);
  }
};
function said(text) {
  try {
    const message = JSON.parse(text).error.message;
    return `${message.charAt(0).toUpperCase()}${message.slice(1)}${/[.?!…]$/.test(message) ? "" : "."}`;
  } catch {
    return null;
  }
}

// src/block.ts
var LONGEST = 4e3;
function blockAt(lines, line) {
  const whole = spans(lines);
  const isBreak = (at) => !whole.some(([from2, to2]) => at >= from2 && at <= to2) && (lines[at]?.trim() === "" || /^#{1,6}\s/.test(lines[at] ?? ""));
  if (line < 0 || line >= lines.length || isBreak(line)) return null;
  let from = line;
  let to = line;
  while (from > 0 && !isBreak(from - 1)) from -= 1;
  while (to < lines.length - 1 && !isBreak(to + 1)) to += 1;
  const text = lines.slice(from, to + 1).map((each) => each.replace(/^\s*>\s?(\[![^\]]*\][+-]?\s*)?/, "").replace(/\s\^[\w-]+$/, "")).join("\n").trim();
  return text ? { text: text.slice(0, LONGEST), from, to } : null;
}
function spans(lines) {
  const found = [];
  let open = null;
  lines.forEach((each, at) => {
    const fence = /^\s*(```|~~~)/.exec(each)?.[1];
    const marks = each.split("$$").length - 1;
    if (open) {
      if (open.mark === "$$" && marks % 2 === 1 || open.mark !== "$$" && fence === open.mark) {
        found.push([open.at, at]);
        open = null;
      }
    } else if (fence) {
      open = { mark: fence, at };
    } else if (marks % 2 === 1) {
      open = { mark: "$$", at };
    }
  });
  return found;
}
function lineOf(text, hit) {
  const first = Math.max(0, (hit.place?.line ?? 1) - 1);
  const offset = text.split("\n", first).join("\n").length;
  const formulas = hit.snippet.filter((piece) => piece.kind === "formula");
  const wanted = [
    hit.formula?.latex,
    ...formulas.filter(({ matched }) => matched).map((piece) => piece.text),
    ...hit.snippet.filter((piece) => piece.kind === "text").map((piece) => piece.text.trim()),
    ...formulas.map((piece) => piece.text)
  ];
  for (const each of wanted) {
    if (!each || each.length < 3) continue;
    const at = text.indexOf(each, offset);
    if (at >= 0) return text.slice(0, at).split("\n").length - 1;
  }
  return first;
}
function pathOf(hit, isThere) {
  let path = hit.place?.path ?? hit.source;
  while (path) {
    if (isThere(path)) return path;
    const slash = path.indexOf("/");
    if (slash < 0) return null;
    path = path.slice(slash + 1);
  }
  return null;
}

// src/panel.ts
var import_obsidian = require("obsidian");
var PANEL = "mathamr-panel";
var MATCHES = { strong: "strong match", weak: "weak match", similar: "similar" };
var Panel = class extends import_obsidian.ItemView {
  constructor(leaf, plugin) {
    super(leaf);
    this.plugin = plugin;
  }
  plugin;
  task = "answers";
  box;
  server;
  said;
  list;
  tasks;
  asked = 0;
  getViewType() {
    return PANEL;
  }
  getDisplayText() {
    return "Search mathematics";
  }
  getIcon() {
    return "sigma";
  }
  async onOpen() {
    const root = this.contentEl;
    root.empty();
    root.addClass("mathamr");
    this.server = root.createDiv({ cls: "mathamr-server" });
    this.box = root.createEl("textarea", {
      cls: "mathamr-box",
      attr: { rows: "2", placeholder: "Words and formulas: sum 1/n^2, $\\zeta(2)$", "aria-label": "Question" }
    });
    this.box.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      void this.search();
    });
    const choice = root.createDiv({ cls: "mathamr-tasks", attr: { role: "group", "aria-label": "Search for" } });
    const button = (task, text) => {
      const made = choice.createEl("button", { text });
      made.addEventListener("click", () => {
        this.choose(task);
        if (this.box.value.trim()) void this.search();
      });
      return made;
    };
    this.tasks = { answers: button("answers", "Notes"), formulas: button("formulas", "Formulas") };
    this.said = root.createEl("p", { cls: "mathamr-said", attr: { role: "status" } });
    this.list = root.createDiv({ cls: "mathamr-hits" });
    this.choose(this.task);
    this.showServer();
  }
  /** Searches for a text as if it had been typed. */
  async ask(text, task) {
    this.box.value = text;
    this.choose(task);
    await this.search();
  }
  /** Whether a block of the open note is in the vault already, in another place. */
  async askWhetherNoted(block, path) {
    this.box.value = block.text;
    this.choose("answers");
    await this.search((answer) => {
      const others = answer.hits.filter((hit) => !this.plugin.isIn(hit, path, block));
      const best = others.find(({ match }) => match !== "similar");
      const verdict = best ? best.match === "strong" ? "You have noted this already, it seems:" : "You may have noted this already:" : "You have not noted this yet. These notes are only similar:";
      return { hits: others, said: others.length ? verdict : "You have not noted this yet." };
    });
  }
  /** Shows the state of the server, and the button that changes it. */
  showServer() {
    if (!this.server) return;
    const { state, message } = this.plugin.server;
    const isOwn = !this.plugin.settings.address;
    const isOn = state === "running" || state === "starting";
    this.server.empty();
    const words2 = { stopped: "The server is stopped.", starting: message, running: message, failed: message }[state];
    this.server.createSpan({ cls: `mathamr-state mathamr-${state}`, text: isOwn ? words2 : "" });
    if (state === "running" && !message || !isOwn) void this.showCounts();
    if (!isOwn) return;
    const button = this.server.createEl("button", { text: isOn ? "Stop the server" : "Start the server" });
    button.addEventListener("click", () => {
      if (isOn) this.plugin.server.stop();
      else void this.plugin.startServer();
    });
  }
  async showCounts() {
    const place = this.server.querySelector(".mathamr-state");
    try {
      const { posts, formulas } = await this.plugin.client().about();
      place?.setText(`${posts} entries, ${formulas} formulas`);
    } catch (error) {
      place?.setText(error instanceof ServerError ? error.message : String(error));
    }
  }
  choose(task) {
    this.task = task;
    for (const [name, button] of Object.entries(this.tasks)) {
      button.toggleClass("is-active", name === task);
      button.setAttribute("aria-pressed", String(name === task));
    }
  }
  async search(judge) {
    const question = this.box.value.trim();
    if (!question) return;
    const asked = ++this.asked;
    this.said.setText("Searching…");
    try {
      await this.plugin.ready();
      const answer = await this.plugin.client().search(question, this.task, this.plugin.settings.results);
      if (asked !== this.asked) return;
      const { hits, said: said2 } = judge?.(answer) ?? { hits: answer.hits, said: summary(answer) };
      this.said.setText(said2);
      this.show(hits);
    } catch (error) {
      if (asked !== this.asked) return;
      this.list.empty();
      this.said.setText(error instanceof ServerError ? error.message : String(error));
    }
  }
  show(hits) {
    this.list.empty();
    const similar = hits.findLastIndex(({ match }) => match !== "similar") + 1;
    hits.forEach((hit, index) => {
      if (index === similar && index > 0)
        this.list.createEl("p", { cls: "mathamr-divider", text: "Similar only" });
      this.showHit(hit);
    });
  }
  showHit(hit) {
    const item = this.list.createDiv({ cls: "mathamr-hit", attr: { tabindex: "0", role: "link" } });
    if (hit.formula) {
      const found = { ...hit.formula, kind: "formula", text: hit.formula.latex, matched: false, display: true };
      write(item.createDiv({ cls: "mathamr-found" }), [found], true);
    }
    write(item.createDiv({ cls: "mathamr-title" }), hit.title.length ? hit.title : [plain(hit.id)]);
    write(item.createDiv({ cls: "mathamr-snippet" }), hit.snippet);
    const about = item.createDiv({ cls: "mathamr-about" });
    about.createSpan({ text: hit.place ? `${hit.place.path}:${hit.place.line}` : hit.source });
    about.createSpan({ cls: `mathamr-${hit.match}`, text: MATCHES[hit.match] });
    const open = (event) => {
      event.preventDefault();
      void this.plugin.open(hit, event.ctrlKey || event.metaKey);
    };
    item.addEventListener("click", open);
    item.addEventListener("keydown", (event) => {
      if (event.key === "Enter") open(event);
    });
  }
};
function summary({ hits, found, absent, checked, query }) {
  const quoted = absent.map((word) => `“${word}”`).join(", ");
  const first = hits.length === 0 ? "Nothing found." : found === "nothing" ? "Nothing here seems to be what you asked for. These entries are only similar." : found === "similar" ? "The nearest, perhaps not what you asked." : "";
  const isStale = checked ? checked.changed_files + checked.new_files + checked.deleted_files > 0 : false;
  const lacks = isStale ? `Your notes did not mention ${quoted} when they were indexed.` : `Your notes do not mention ${quoted}.`;
  return [quoted ? lacks : "", first, ...query.notes].filter(Boolean).join(" ");
}
function plain(text) {
  return { kind: "text", text, matched: false };
}
function write(place, pieces, isBlock = false) {
  for (const [index, piece] of pieces.entries()) {
    if (piece.kind !== "formula") {
      const joint = pieces[index - 1]?.kind === "formula" && /^[.,;:!?)\]’”]/.test(piece.text) ? "⁠" : "";
      const text = piece.kind === "gap" ? " … " : `${joint}${piece.text}`;
      place.createSpan({ text, cls: piece.matched ? "mathamr-matched" : "" });
      continue;
    }
    const formula = place.createSpan({ cls: piece.matched ? "mathamr-formula mathamr-matched" : "mathamr-formula" });
    const math = piece.mathml ? (0, import_obsidian.sanitizeHTMLToDom)(piece.mathml).querySelector("math") : null;
    if (!math) {
      formula.createEl("code", { text: piece.latex });
      continue;
    }
    math.setAttribute("display", isBlock ? "block" : "inline");
    formula.append(math);
  }
}

// src/server.ts
var import_child_process = require("child_process");
var PATIENCE = 10 * 60 * 1e3;
var GRACE = 5e3;
var LONGEST2 = 2e3;
var Server = class {
  constructor(changed) {
    this.changed = changed;
  }
  changed;
  state = "stopped";
  address = "";
  message = "";
  processes = [];
  /** Indexes the vault and serves it; the promise ends when the server answers, has failed, or was stopped. */
  async start(command, vault, port, watches) {
    if (this.state === "starting" || this.state === "running") return;
    const [program = "mathamr", ...first] = words(command);
    const before = this.processes;
    const own = this.processes = [];
    this.turn("starting", "", "Indexing the vault…");
    await Promise.all(before.map((each) => each.ended));
    if (this.processes !== own) return;
    const server = run(program, [...first, "serve", vault, "--port", String(port), "--processes", "1", "-q"]);
    own.push(server);
    await new Promise((resolve) => {
      const late = setTimeout(() => this.fail(own, "The server did not start within ten minutes."), PATIENCE);
      let said2 = "";
      server.process.stdout?.on("data", (data) => {
        if (this.processes !== own || this.state !== "starting") return;
        said2 += String(data);
        const address = /https?:\/\/\S+/.exec(said2)?.[0];
        if (!address) return;
        clearTimeout(late);
        this.turn("running", address, "");
        if (watches) this.watch(own, program, [...first, "index", vault, "--watch", "-q"]);
        resolve();
      });
      void server.ended.then((isFound) => {
        clearTimeout(late);
        this.fail(
          own,
          isFound ? lastLine(server.complaints) || "The server has ended." : `“${program}” cannot be started. Install mathamr, or give its full path in the settings.`
        );
        resolve();
      });
    });
  }
  /** Ends the processes that it has started. */
  stop() {
    for (const each of this.processes) end(each);
    this.processes = [...this.processes];
    this.turn("stopped", "", "");
  }
  /** Follows the changes of the vault; a watcher that ends is told, since new notes are not found then. */
  watch(own, program, given) {
    const watcher = run(program, given);
    own.push(watcher);
    void watcher.ended.then(() => {
      if (this.processes !== own) return;
      const why = lastLine(watcher.complaints);
      const what = "New and changed notes are not found until you stop the server and start it again.";
      this.turn(this.state, this.address, `The watcher has ended${why ? ` (${why})` : ""}. ${what}`);
    });
  }
  /** Ends the processes of one start, unless they were stopped already. */
  fail(own, message) {
    if (this.processes !== own) return;
    this.stop();
    this.turn("failed", "", message);
  }
  turn(state, address, message) {
    Object.assign(this, { state, address, message });
    this.changed();
  }
};
function run(program, given) {
  const child = (0, import_child_process.spawn)(program, given, { stdio: ["ignore", "pipe", "pipe"] });
  const ended = new Promise((resolve) => {
    child.on("exit", () => resolve(true));
    child.on("error", () => resolve(child.pid !== void 0));
  });
  const started = { process: child, complaints: "", ended };
  child.stdout?.resume();
  child.stderr?.on("data", (data) => {
    started.complaints = (started.complaints + String(data)).slice(-LONGEST2);
  });
  return started;
}
function end(started) {
  started.process.kill("SIGTERM");
  const late = setTimeout(() => started.process.kill("SIGKILL"), GRACE);
  void started.ended.then(() => clearTimeout(late));
}
function words(command) {
  return (command.match(/"[^"]*"|\S+/g) ?? []).map((word) => word.replace(/^"(.*)"$/, "$1"));
}
function lastLine(text) {
  const lines = text.split(/[\r\n]+/).filter((line) => line.trim());
  return (lines.at(-1) ?? "").replace(/^mathamr: /, "").trim();
}

// src/settings.ts
var import_obsidian2 = require("obsidian");
var DEFAULTS = {
  command: "mathamr",
  port: 0,
  address: "",
  startsWithVault: false,
  watches: true,
  results: 20
};
var SettingsTab = class extends import_obsidian2.PluginSettingTab {
  constructor(app, plugin) {
    super(app, plugin);
    this.plugin = plugin;
  }
  plugin;
  display() {
    const { containerEl } = this;
    const { settings } = this.plugin;
    containerEl.empty();
    new import_obsidian2.Setting(containerEl).setName("Command").setDesc("The program, with its full path if it is not found (in quotation marks if it has spaces): /home/me/.venv/bin/mathamr").addText(
      (text) => text.setValue(settings.command).onChange((value) => this.save({ command: value.trim() || DEFAULTS.command }))
    );
    new import_obsidian2.Setting(containerEl).setName("Port").setDesc("The port of the server on this machine; 0 chooses a free one.").addText(
      (text) => text.setValue(String(settings.port)).onChange((value) => {
        const port = Number(value);
        if (Number.isInteger(port) && port >= 0 && port < 65536) this.save({ port });
      })
    );
    new import_obsidian2.Setting(containerEl).setName("Address of a running server").setDesc("Leave empty to let this plugin start one. Otherwise something like http://127.0.0.1:8080/").addText((text) => text.setValue(settings.address).onChange((value) => this.save({ address: value.trim() })));
    new import_obsidian2.Setting(containerEl).setName("Start with the vault").setDesc("Start the server when the vault is opened.").addToggle(
      (toggle) => toggle.setValue(settings.startsWithVault).onChange((value) => this.save({ startsWithVault: value }))
    );
    new import_obsidian2.Setting(containerEl).setName("Follow changes").setDesc("Update the index while you write.").addToggle((toggle) => toggle.setValue(settings.watches).onChange((value) => this.save({ watches: value })));
    new import_obsidian2.Setting(containerEl).setName("Results").setDesc("How many results are shown, 1 to 100.").addText(
      (text) => text.setValue(String(settings.results)).onChange((value) => {
        const results = Number(value);
        if (Number.isInteger(results) && results >= 1 && results <= 100) this.save({ results });
      })
    );
  }
  save(change) {
    void this.plugin.change(change);
  }
};

// src/main.ts
var request = async (options) => {
  const { status, text } = await (0, import_obsidian3.requestUrl)({ ...options, throw: false });
  return { status, text };
};
var MathamrPlugin = class extends import_obsidian3.Plugin {
  settings = DEFAULTS;
  server = new Server(() => this.serverChanged());
  async onload() {
    this.settings = { ...DEFAULTS, ...await this.loadData() };
    this.registerView(PANEL, (leaf) => new Panel(leaf, this));
    this.addSettingTab(new SettingsTab(this.app, this));
    this.addRibbonIcon("sigma", "Search mathematics", () => void this.panel());
    this.addCommand({ id: "open", name: "Search mathematics", callback: () => void this.panel() });
    this.addCommand({
      id: "search-selection",
      name: "Search from the selection",
      editorCallback: (editor) => void this.searchSelection(editor)
    });
    this.addCommand({
      id: "noted-already",
      name: "Have I noted this already?",
      editorCallback: (editor) => void this.whetherNoted(editor)
    });
    this.addCommand({ id: "start", name: "Start the server", callback: () => void this.startServer() });
    this.addCommand({ id: "stop", name: "Stop the server", callback: () => this.server.stop() });
    if (this.settings.startsWithVault) this.app.workspace.onLayoutReady(() => void this.startServer());
  }
  onunload() {
    this.server.stop();
  }
  async change(change) {
    this.settings = { ...this.settings, ...change };
    await this.saveData(this.settings);
    this.serverChanged();
  }
  /** The server that answers: one of the settings, or the plugin's own. */
  client() {
    return new Client(request, this.settings.address || this.server.address);
  }
  /** Waits until there is a server; one that was stopped by hand stays stopped. */
  async ready() {
    if (this.settings.address || this.server.state === "running") return;
    if (this.server.state === "starting") throw new ServerError("The vault is still being indexed.");
    throw new ServerError("The server is stopped. Start it with the button above.");
  }
  async startServer() {
    const { command, port, watches, address } = this.settings;
    const { adapter } = this.app.vault;
    if (address) return;
    if (!(adapter instanceof import_obsidian3.FileSystemAdapter)) {
      new import_obsidian3.Notice("mathamr needs a vault on this machine.");
      return;
    }
    await this.server.start(command, adapter.getBasePath(), port, watches);
    if (this.server.state === "failed") new import_obsidian3.Notice(`mathamr: ${this.server.message}`);
  }
  /** Opens the note of a hit at the line of what was found. */
  async open(hit, inNewTab) {
    const path = pathOf(hit, (each) => this.app.vault.getAbstractFileByPath(each) instanceof import_obsidian3.TFile);
    const file = path ? this.app.vault.getAbstractFileByPath(path) : null;
    if (!(file instanceof import_obsidian3.TFile)) {
      new import_obsidian3.Notice(`${hit.place?.path ?? hit.source} is not in this vault.`);
      return;
    }
    const line = lineOf(await this.app.vault.cachedRead(file), hit);
    const leaf = this.app.workspace.getLeaf(inNewTab ? "tab" : false);
    await leaf.openFile(file, { eState: { line } });
    const view = leaf.view;
    if (view instanceof import_obsidian3.MarkdownView) view.editor.setCursor({ line, ch: 0 });
  }
  /** Whether a hit is the very block that is asked about, not another place of the same note. */
  isIn(hit, path, block) {
    const found = pathOf(hit, (each) => each === path);
    if (found !== path) return false;
    const text = this.app.workspace.getActiveViewOfType(import_obsidian3.MarkdownView)?.editor.getValue();
    if (text === void 0) return true;
    const line = lineOf(text, hit);
    return line >= block.from && line <= block.to;
  }
  async panel() {
    const { workspace } = this.app;
    let leaf = workspace.getLeavesOfType(PANEL)[0] ?? null;
    if (!leaf) {
      leaf = workspace.getRightLeaf(false);
      await leaf?.setViewState({ type: PANEL, active: true });
    }
    if (leaf) await workspace.revealLeaf(leaf);
    return leaf?.view instanceof Panel ? leaf.view : null;
  }
  async searchSelection(editor) {
    const text = editor.getSelection().trim() || editor.getLine(editor.getCursor().line).trim();
    if (!text) {
      new import_obsidian3.Notice("Select words or a formula first.");
      return;
    }
    const formula = /^\$\$?([^$]+)\$\$?$/.exec(text);
    const task = formula ? "formulas" : "answers";
    await (await this.panel())?.ask(formula?.[1]?.trim() ?? text, task);
  }
  async whetherNoted(editor) {
    const block = blockAt(editor.getValue().split("\n"), editor.getCursor().line);
    const path = this.app.workspace.getActiveFile()?.path ?? "";
    if (!block) {
      new import_obsidian3.Notice("There is no text at the cursor.");
      return;
    }
    await (await this.panel())?.askWhetherNoted(block, path);
  }
  serverChanged() {
    for (const { view } of this.app.workspace.getLeavesOfType(PANEL)) if (view instanceof Panel) view.showServer();
  }
};
