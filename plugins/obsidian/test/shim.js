// As much of Obsidian's API as the plugin uses, for a browser without the application. The test gives it a vault
// (`window.vault`: path to text) and three functions: `httpRequest`, `startProcess` and `pollProcess`.
"use strict";

const methods = {
  empty() {
    this.replaceChildren();
  },
  setText(text) {
    this.textContent = text;
  },
  addClass(name) {
    this.classList.add(name);
  },
  toggleClass(name, on) {
    this.classList.toggle(name, on);
  },
  createEl(tag, { cls, text, attr } = {}) {
    const made = document.createElement(tag);
    if (cls) made.className = cls;
    if (text) made.textContent = text;
    for (const [name, value] of Object.entries(attr ?? {})) made.setAttribute(name, value);
    this.append(made);
    return made;
  },
  createDiv(options) {
    return this.createEl("div", options);
  },
  createSpan(options) {
    return this.createEl("span", options);
  },
};
Object.assign(HTMLElement.prototype, methods);

class Editor {
  constructor(text) {
    this.text = text;
    this.cursor = { line: 0, ch: 0 };
    this.selection = "";
  }
  getValue() {
    return this.text;
  }
  getLine(line) {
    return this.text.split("\n")[line];
  }
  getCursor() {
    return this.cursor;
  }
  setCursor(cursor) {
    this.cursor = cursor;
  }
  getSelection() {
    return this.selection;
  }
}

class TFile {
  constructor(path) {
    this.path = path;
  }
}
class FileSystemAdapter {
  getBasePath() {
    return window.vaultPath;
  }
}
class MarkdownView {
  constructor(file) {
    this.file = file;
    this.editor = new Editor(window.vault[file.path]);
  }
}
class ItemView {
  constructor(leaf) {
    this.leaf = leaf;
    this.contentEl = document.getElementById("panel");
  }
}
class Component {
  constructor(app) {
    this.app = app;
    this.containerEl = document.getElementById("settings");
  }
}

const note = { view: null, openFile: async (file) => (note.view = new MarkdownView(file)) };
const side = { view: null, type: null };
const views = {};
side.setViewState = async ({ type }) => {
  side.type = type;
  side.view = views[type](side);
  await side.view.onOpen();
};
const app = {
  vault: {
    adapter: new FileSystemAdapter(),
    getAbstractFileByPath: (path) => (path in window.vault ? new TFile(path) : null),
    cachedRead: async (file) => window.vault[file.path],
  },
  workspace: {
    getLeavesOfType: (type) => (side.type === type ? [side] : []),
    getRightLeaf: () => side,
    revealLeaf: async () => undefined,
    getLeaf: () => note,
    getActiveFile: () => note.view?.file ?? null,
    getActiveViewOfType: () => note.view,
    onLayoutReady: (ready) => ready(),
  },
};

class Plugin {
  constructor() {
    this.app = app;
    this.commands = {};
    this.stored = null;
  }
  registerView(type, make) {
    views[type] = make;
  }
  addSettingTab(tab) {
    this.tab = tab;
  }
  addRibbonIcon() {}
  addCommand(command) {
    this.commands[command.id] = () =>
      command.editorCallback ? command.editorCallback(note.view.editor) : command.callback();
  }
  async loadData() {
    return window.settings ?? null;
  }
  async saveData(data) {
    window.settings = data;
  }
}

class Setting {
  constructor(place) {
    this.row = place.createDiv({ cls: "setting" });
  }
  setName(text) {
    this.row.createEl("b", { text });
    return this;
  }
  setDesc(text) {
    this.row.createEl("p", { text });
    return this;
  }
  control(type, read, give) {
    const input = this.row.createEl("input", { attr: { type } });
    const made = {
      setValue: (value) => (give(input, value), made),
      onChange: (heard) => (input.addEventListener("change", () => heard(read(input))), made),
    };
    return made;
  }
  addText(make) {
    make(this.control("text", (input) => input.value, (input, value) => (input.value = value)));
    return this;
  }
  addToggle(make) {
    make(this.control("checkbox", (input) => input.checked, (input, value) => (input.checked = value)));
    return this;
  }
}

const obsidian = {
  FileSystemAdapter,
  ItemView,
  MarkdownView,
  Plugin,
  PluginSettingTab: Component,
  Setting,
  TFile,
  Notice: class {
    constructor(text) {
      document.getElementById("notices").createEl("p", { text });
    }
  },
  requestUrl: (options) => window.httpRequest(options),
  sanitizeHTMLToDom: (html) => document.createRange().createContextualFragment(html),
};

/** A child process that the test runs; its output is asked for now and then. */
function spawn(program, given) {
  const heard = { data: [], errors: [], exit: [], error: [] };
  let id = null;
  const say = (kind, what) => heard[kind].forEach((each) => each(what));
  const process = {
    stdout: { on: (_, heardBy) => heard.data.push(heardBy), resume: () => undefined },
    stderr: { on: (_, heardBy) => heard.errors.push(heardBy) },
    on: (kind, heardBy) => heard[kind].push(heardBy),
    kill: () => id !== null && window.pollProcess(id, true),
  };
  (async () => {
    id = await window.startProcess([program, ...given]);
    if (id === null) return say("error", new Error("ENOENT"));
    for (;;) {
      const { output, errors, ended } = await window.pollProcess(id, false);
      if (output) say("data", output);
      if (errors) say("errors", errors);
      if (ended) return say("exit", 0);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  })();
  return process;
}

const modules = { obsidian, child_process: { spawn } };
window.require = (name) => modules[name];
window.module = { exports: {} };
window.openNote = (path, line, selection = "") => {
  note.view = new MarkdownView(new TFile(path));
  Object.assign(note.view.editor, { cursor: { line, ch: 0 }, selection });
};
window.openedNote = () => note.view && { path: note.view.file.path, line: note.view.editor.getCursor().line };
